//! The `credscope` program: hands over to [`credscope::cli`].

fn main() -> std::process::ExitCode {
    credscope::cli::run()
}
