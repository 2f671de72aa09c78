//! Accelerated compositing, or not: decided before GTK starts.
//!
//! WebKitGTK composes with OpenGL. Where there is no graphics card, OpenGL is emulated by the processor, and a scrolling grid
//! draws a tenth of the frames that plain painting does. Reviewers often sit on virtual desktops of that kind.

use std::ffi::OsString;
use std::path::Path;

use clap::ValueEnum;

/// What was asked for on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Graphics {
    /// Decide by what the machine has, unless the environment says something already.
    Auto,
    /// Paint without accelerated compositing.
    Software,
    /// Compose with the graphics card.
    Accelerated,
}

/// The variable that WebKitGTK reads.
const SWITCH: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";
/// Whoever set one of these has decided already.
const DECISIONS: [&str; 4] =
    [SWITCH, "WEBKIT_FORCE_COMPOSITING_MODE", "WEBKIT_DISABLE_DMABUF_RENDERER", "WEBKIT_SKIA_ENABLE_CPU_RENDERING"];
/// Mesa emulates OpenGL when it is set.
const SOFTWARE_GL: &str = "LIBGL_ALWAYS_SOFTWARE";
/// Set for the process that was started anew, so that it is never started a third time.
const DECIDED: &str = "COUNTERSIGN_GRAPHICS_DECIDED";

/// What a machine and its environment say about drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Surroundings {
    /// What WebKit was told by whoever set up the environment.
    told: Told,
    /// There is a graphics card to draw with.
    render_node: bool,
    /// OpenGL is emulated by the processor.
    software_gl: bool,
}

/// Whether somebody has told WebKit how to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    /// To do without compositing.
    SwitchedOff,
    Otherwise,
}

/// What to do about [`SWITCH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Nothing,
    Set,
    Remove,
}

/// How the window is drawn, in a few words.
pub(crate) fn mode() -> &'static str {
    match surroundings(|name| std::env::var_os(name), Path::new("/dev/dri")) {
        Surroundings { told: Told::SwitchedOff, .. } => "without accelerated compositing",
        Surroundings { render_node: true, software_gl: false, .. } => "composed by a graphics card",
        _ => "composed by the processor",
    }
}

fn decide(asked: Graphics, surroundings: Surroundings) -> Change {
    let Surroundings { told, render_node, software_gl } = surroundings;
    match asked {
        Graphics::Software if told != Told::SwitchedOff => Change::Set,
        Graphics::Accelerated if told == Told::SwitchedOff => Change::Remove,
        Graphics::Auto if told == Told::Nothing && (!render_node || software_gl) => Change::Set,
        Graphics::Auto | Graphics::Software | Graphics::Accelerated => Change::Nothing,
    }
}

fn surroundings(environment: impl Fn(&str) -> Option<OsString>, devices: &Path) -> Surroundings {
    let on = |name: &str| environment(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false");
    let render_node = std::fs::read_dir(devices)
        .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| is_render_node(&entry.file_name()))));
    let told = if on(SWITCH) {
        Told::SwitchedOff
    } else if DECISIONS.iter().any(|name| environment(name).is_some()) {
        Told::Otherwise
    } else {
        Told::Nothing
    };
    Surroundings { told, render_node, software_gl: on(SOFTWARE_GL) }
}

fn is_render_node(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().starts_with("renderD")
}

/// Starts this program anew where the environment has to be another one. (A running process cannot change its own soundly: other
/// threads may be reading it.) The process keeps its number, so that whoever started it notices nothing.
#[cfg(target_os = "linux")]
pub(crate) fn apply(asked: Graphics) -> Result<(), String> {
    use std::os::unix::process::CommandExt as _;

    if std::env::var_os(DECIDED).is_some() {
        return Ok(());
    }
    let change = decide(asked, surroundings(|name| std::env::var_os(name), Path::new("/dev/dri")));
    if change == Change::Nothing {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?;
    let mut again = std::process::Command::new(program);
    again.args(std::env::args_os().skip(1)).env(DECIDED, "1");
    if change == Change::Set {
        again.env(SWITCH, "1");
    } else {
        again.env_remove(SWITCH);
    }
    // It returns only when it fails.
    Err(format!("this program cannot be started with other graphics: {}", again.exec()))
}

/// Other platforms compose on their own terms.
#[cfg(not(target_os = "linux"))]
pub(crate) fn apply(_asked: Graphics) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compositing_is_switched_off_where_it_would_be_emulated_and_nobody_has_decided() {
        use Change::{Nothing, Remove, Set};
        use Graphics::{Accelerated, Auto, Software};
        // asked, told, render node, software OpenGL
        for (asked, told, render_node, software_gl, expected) in [
            (Auto, Told::Nothing, true, false, Nothing),
            (Auto, Told::Nothing, false, false, Set),
            (Auto, Told::Nothing, true, true, Set),
            (Auto, Told::Otherwise, false, true, Nothing),
            (Auto, Told::SwitchedOff, false, false, Nothing),
            (Software, Told::Nothing, true, false, Set),
            (Software, Told::Otherwise, true, false, Set),
            (Software, Told::SwitchedOff, true, false, Nothing),
            (Accelerated, Told::Nothing, false, true, Nothing),
            (Accelerated, Told::SwitchedOff, true, false, Remove),
            (Accelerated, Told::Otherwise, true, false, Nothing),
        ] {
            let surroundings = Surroundings { told, render_node, software_gl };
            assert_eq!(decide(asked, surroundings), expected, "{asked:?} {surroundings:?}");
        }
    }

    #[test]
    fn the_surroundings_are_read_from_the_environment_and_the_device_directory() {
        let devices = tempfile::tempdir().expect("a temporary directory");
        let with = |pairs: &'static [(&'static str, &'static str)]| {
            surroundings(
                move |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into()),
                devices.path(),
            )
        };
        let nothing = Surroundings { told: Told::Nothing, render_node: false, software_gl: false };
        assert_eq!(with(&[]), nothing);
        assert_eq!(with(&[(SWITCH, "0")]), Surroundings { told: Told::Otherwise, ..nothing });
        assert_eq!(with(&[(SWITCH, "1")]), Surroundings { told: Told::SwitchedOff, ..nothing });
        assert_eq!(with(&[(SOFTWARE_GL, "1")]), Surroundings { software_gl: true, ..nothing });
        std::fs::write(devices.path().join("card0"), "").expect("a writable directory");
        assert_eq!(with(&[]), nothing);
        std::fs::write(devices.path().join("renderD128"), "").expect("a writable directory");
        assert_eq!(with(&[]), Surroundings { render_node: true, ..nothing });
    }
}
