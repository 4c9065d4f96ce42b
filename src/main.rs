//! The `credscope` program: hands over to [`credscope::cli`].

/// Rollouts are many small lists that live as long as the program, beside records that are read and
/// dropped by several threads: for most files this allocator needs a tenth to a quarter less memory and
/// time than glibc's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    credscope::cli::run()
}
