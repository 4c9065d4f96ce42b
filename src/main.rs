//! The `credscope` program: hands over to [`credscope::cli`].

fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
