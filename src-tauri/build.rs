//! Prepares what the shell is compiled with: the window's configuration, its capabilities and the built UI.

use std::error::Error;
use std::fs;
use std::path::Path;

/// Where `npm run build` puts the UI, as in `tauri.conf.json`.
const UI: &str = "ui/dist";

/// Shown when the shell was compiled before the UI was built.
const PLACEHOLDER: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Countersign</title>\n\
    <p>The user interface is not built into this binary: run <code>npm ci &amp;&amp; npm run build</code> in <code>ui</code> \
    and compile again.</p>\n</html>\n";

fn main() -> Result<(), Box<dyn Error>> {
    make_sure_that_there_is_a_ui()?;
    // The files get new names with each build, so that watching the ones that were embedded is not enough.
    println!("cargo:rerun-if-changed={UI}");
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/build.rs");
    let permissions = tauri_build::AppManifest::new().permissions_path_pattern("./src-tauri/capabilities/*.toml");
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/*.json")
        .app_manifest(permissions);
    Ok(tauri_build::try_build(attributes)?)
}

/// A fresh checkout compiles without Node.
fn make_sure_that_there_is_a_ui() -> std::io::Result<()> {
    let page = Path::new(UI).join("index.html");
    if page.exists() {
        return Ok(());
    }
    fs::create_dir_all(UI)?;
    fs::write(page, PLACEHOLDER)
}
