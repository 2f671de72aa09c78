//! The shell: a window over the workstation.
//!
//! It is thin on purpose. `commands` translate what the window asks for, `views` what it is shown; `workstation` knows which
//! journal is open and how to connect; everything that may or may not happen to an exception is decided below, in the crates.

mod args;
mod changes;
mod commands;
mod graphics;
mod heard;
mod log;
mod notifications;
mod opened;
mod profile;
mod refusal;
mod views;
mod window;
mod workstation;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use countersign_station::{Configured, SettingsFile};
use secrecy::SecretString;
use tauri::{AppHandle, RunEvent};

use crate::args::{Args, LOG_VARIABLE, PASSWORD_VARIABLE, Places};
use crate::notifications::Desktop;
use crate::window::placement::Placements;
use crate::workstation::Workstation;

/// What cannot go on, before there is a window to say so: standard error, and this code.
const REFUSED: u8 = 2;

/// Runs the application to its end.
pub fn main() -> ExitCode {
    let args = Args::parse();
    if let Err(reason) = graphics::apply(args.graphics) {
        eprintln!("countersign: {reason}");
    }
    let (settings, places) = match prepare(&args) {
        Ok(prepared) => prepared,
        Err(reason) => {
            eprintln!("countersign: {reason}");
            refusal::show(&reason);
            return ExitCode::from(REFUSED);
        }
    };
    let password = std::env::var(PASSWORD_VARIABLE).ok().filter(|password| !password.is_empty());
    let workstation =
        Arc::new(Workstation::new(settings, places.clone(), args.profile, password.map(SecretString::from)));
    match run(workstation, places) {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(reason) => {
            tracing::error!(event = "not_run", "{reason}");
            eprintln!("countersign: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Reads what has to be right before anything is opened.
fn prepare(args: &Args) -> Result<((SettingsFile, Configured), Places), String> {
    let places = Places::of(args)?;
    let file = args.config.clone().unwrap_or_else(|| places.config_dir.join("config.toml"));
    let variable = |name: &str| std::env::var(name).ok();
    let file = SettingsFile::at(file, variable);
    let configured = file.load(args.config.is_some()).map_err(|error| error.to_string())?;
    let to_stderr = variable(LOG_VARIABLE).as_deref() == Some("stderr");
    places.make()?;
    log::start(&places.data_dir, to_stderr)?;
    Ok(((file, configured), places))
}

fn run(workstation: Arc<Workstation>, places: Places) -> tauri::Result<i32> {
    let context = tauri::generate_context!();
    let mut single = tauri_plugin_single_instance::Builder::new().callback(|app, _, _| window::raise(app));
    if let Some(instance) = &places.instance {
        single = single.dbus_id(format!("{}.at{instance}", context.config().identifier));
    }
    let app = tauri::Builder::default()
        // First of all plugins: a second start ends here, before it opens anything.
        .plugin(single.build())
        .manage(Arc::clone(&workstation))
        .manage(Arc::new(Desktop::default()))
        .manage(Arc::new(Placements::at(places.data_dir.join("window.json"))))
        .invoke_handler(tauri::generate_handler![
            commands::session,
            commands::save_profile,
            commands::connect,
            commands::deck,
            commands::detail,
            commands::totals,
            commands::preflight,
            commands::subtotals,
            commands::sign,
            commands::undo,
            commands::release,
            commands::hand_over,
            commands::outbox,
            commands::receipts,
            commands::batches::batches,
            commands::batches::batch,
            commands::batches::save_batch,
            commands::files::export_deck,
            commands::files::read_decisions,
            commands::focus::focus,
            commands::focus::set_focus,
            commands::focus::extend_leases,
            commands::focus::cancel_unsent,
            commands::focus::outbox_history,
            commands::focus::ui_state,
            commands::focus::keep_ui_state,
            commands::reading::backlog,
            commands::reading::close_overview,
            commands::reading::history,
            commands::reading::picture,
            commands::dead_letters::letters,
            commands::dead_letters::letter,
            commands::dead_letters::take_letters,
            commands::dead_letters::fix_letter,
            commands::dead_letters::rehearse_letters,
            commands::dead_letters::replay_letters,
            commands::dead_letters::discard_letters,
            commands::retry_now,
            commands::retry_dead,
            commands::dismiss,
            commands::sign_out,
            commands::stop_waiting,
            commands::export_outbox,
            commands::remove_everything,
            commands::settings::settings,
            commands::settings::change_setting,
            commands::settings::preferences,
            commands::settings::save_preferences,
            commands::connection::test_connection,
            commands::connection::delete_profile,
            commands::connection::diagnostics,
            commands::drain,
            commands::close_now,
        ])
        .on_window_event(window::on_event)
        .setup(move |app| {
            workstation.load_preferences();
            begin(app.handle(), workstation);
            Ok(window::open(app.handle(), &places)?)
        })
        .build(context)?;
    Ok(app.run_return(|app, event| {
        // The last window is gone without having asked, as when the display ends it. A code means that we are done.
        if let RunEvent::ExitRequested { code: None, api, .. } = event {
            api.prevent_exit();
            window::request_close(app);
        }
    }))
}

/// Opens the journal while the window is being made.
fn begin(app: &AppHandle, workstation: Arc<Workstation>) {
    let (start, follow) = (Arc::clone(&workstation), Arc::clone(&workstation));
    tauri::async_runtime::spawn(async move { start.start().await });
    tauri::async_runtime::spawn(changes::follow(app.clone(), follow));
    tauri::async_runtime::spawn(notifications::follow(app.clone(), Arc::clone(&workstation)));
    tauri::async_runtime::spawn(window::placement::follow(app.clone()));
    #[cfg(unix)]
    tauri::async_runtime::spawn(window::close_on_signals(app.clone(), workstation));
}
