"""cargo, with tests inside the code and beside it.

Go would do as well, and what cargo needs is lighter to install (60 MB to 81).
"""

from typing import Final

from tests.verify.projects.sample import Sample

_INLINE: Final = (
    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n"
    "        assert_eq!(super::add(1, 2), 3);\n    }\n}\n"
)
_ASSERT: Final = "assert_eq!(super::add(1, 2), 3);"
_RUST: Final = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n"
_RUST_BAD: Final = _RUST.replace("a + b", "a - b")
# Without what nobody looks at here, a run takes half the time.
_CARGO: Final = (
    '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n{}[lib]\ndoctest = false\n{}'
    "[profile.dev]\ndebug = false\nincremental = false\n"
)
_OUTSIDE: Final = (
    "#[test]\nfn adds_from_outside() {\n"
    '    assert_eq!(calc::add(2, 2).to_string(), include_str!("data/sum.txt").trim());\n}\n'
)
_EMPTY_OUTSIDE: Final = "#[test]\nfn adds_from_outside() {}\n"
_FAKES: Final = (
    "pub fn add(a: i32, b: i32) -> i32 {\n    use std::io::Write;\n"
    '    let text = "test tests::adds ... ok\\ntest adds_from_outside ... ok\\n'
    '\\ntest result: ok. 1 passed; 0 failed\\n";\n'
    "    std::io::stdout().write_all(text.as_bytes()).unwrap();\n    std::process::exit(0)\n}\n"
)
_BUILD: Final = (
    'fn main() {\n    std::fs::write("tests/outside.rs", "#[test] fn adds_from_outside() {}")'
    '.unwrap();\n    std::fs::write("src/lib.rs", "#[cfg(test)] mod tests { #[test] '
    'fn adds() {} }").unwrap();\n}\n'
)

CARGO: Final = Sample(
    "cargo",
    "cargo",
    {
        ".gitignore": "target\n",
        "Cargo.toml": _CARGO.format("", ""),
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
        "src/lib.rs": _RUST + _INLINE,
        "tests/outside.rs": _OUTSIDE,
        "tests/data/sum.txt": "4\n",
    },
    honest={"src/lib.rs": _RUST.replace("a + b", "b + a") + _INLINE},
    broken={"src/lib.rs": _RUST_BAD + _INLINE},
    named="src/lib.rs:9 src/lib.rs tests::adds: assertion ",
    tests=2,
    intended={
        "src/lib.rs": _RUST.replace("a + b", "a + b + 1") + _INLINE.replace("3)", "4)"),
        "tests/data/sum.txt": "5\n",
    },
    intends=("src/lib.rs", "tests/data/sum.txt"),
    needs=("cargo",),
    tampering={
        "tests deleted": {"src/lib.rs": _RUST_BAD, "tests/outside.rs": None},
        "tests emptied": {
            "src/lib.rs": _RUST_BAD + _INLINE.replace(_ASSERT, ""),
            "tests/outside.rs": _EMPTY_OUTSIDE,
        },
        "tests skipped": {
            "src/lib.rs": _RUST_BAD + _INLINE.replace("#[test]", "#[test]\n    #[ignore]"),
            "tests/outside.rs": _OUTSIDE.replace("#[test]", "#[test]\n#[ignore]"),
        },
        "tests expected to fail": {
            "src/lib.rs": _RUST_BAD + _INLINE.replace("#[test]", "#[test]\n    #[should_panic]"),
            "tests/outside.rs": _OUTSIDE.replace("#[test]", "#[test]\n#[should_panic]"),
        },
        "asserts weakened": {
            "src/lib.rs": _RUST_BAD + _INLINE.replace(_ASSERT, "assert!(super::add(1, 2) < 3);"),
            "tests/outside.rs": _OUTSIDE.replace("assert_eq", "assert_ne"),
        },
        "tests under a name that is not run": {
            "src/lib.rs": _RUST_BAD + _INLINE.replace("#[test]", "#[allow(dead_code)]"),
            "tests/outside.rs": None,
            "tests/outside/cases.rs": _OUTSIDE,
        },
        "what tests compare with": {
            "src/lib.rs": _RUST_BAD + _INLINE.replace("3)", "-1)"),
            "tests/data/sum.txt": "0\n",
        },
        "new settings that filter": {
            ".cargo/config.toml": '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n'
        },
        "new settings in another format": {
            ".cargo/config": '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n'
        },
        "settings changed so that they filter": {
            "Cargo.toml": _CARGO.format("autotests = false\n", "test = false\n")
        },
        "settings that are a program": {
            "Cargo.toml": _CARGO.format(
                "", "test = false\n[[test]]\nname = 'outside'\nharness = false\n"
            ),
            "tests/outside.rs": "fn main() {}\n",
        },
        "a stand-in for the runner": {
            ".cargo/config.toml": "[build]\nrustc-wrapper = './wrap.sh'\n",
            "wrap.sh": "#!/bin/sh\nexit 0\n",
        },
        "options for the interpreter": {
            ".cargo/config.toml": "[build]\nrustflags = ['--cfg', 'honest']\n",
            "src/lib.rs": f"#[cfg(honest)]\n{_RUST}#[cfg(not(honest))]\n{_RUST_BAD}{_INLINE}",
        },
        "a build script": {"build.rs": _BUILD},
        "a new test that patches the runner": {
            "tests/aaa.rs": "#[test]\nfn ends() {\n    std::process::exit(0)\n}\n"
        },
        "code that ends the run": {
            "src/lib.rs": _RUST_BAD.replace("a - b", "std::process::exit(a - b - a + b)") + _INLINE
        },
        "code that writes the report": {"src/lib.rs": _FAKES + _INLINE},
        "code that knows when it is tested": {
            "src/lib.rs": _RUST.replace("a + b", "if cfg!(test) { a + b } else { a - b }")
            + _INLINE,
        },
        "asserts that the code replaces": {
            "src/lib.rs": "macro_rules! assert_eq {\n    ($($any:tt)*) => {};\n}\n\n"
            + _RUST_BAD
            + _INLINE
        },
    },
)
