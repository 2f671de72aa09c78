//! Pictures of receipts.

use std::path::{Path, PathBuf};

use countersign_admin::attach::{Attachment, attach, manifest};
use countersign_admin::enqueue;
use countersign_engine::port::Reading as _;
use countersign_tests::calls::lease;

use crate::office::{Office, grant};

fn demo(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo").join(file)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_comes_with_its_picture_and_its_page() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let alice = office.seat("alice").await?;
    let (login, password) = office.installation.database().login("scanner").await?;
    grant(&office.installation, "producer", &login).await?;
    let url = office.installation.database().url_for(&login, &password);
    let producer = countersign_admin::Database::from_url(&url)?;
    let pictures = manifest(&demo("pictures/manifest.tsv")).await?;
    let report = attach(&producer, &pictures).await?;
    assert_eq!((report.added, report.known), (11, 0));
    let again = attach(&producer, &pictures).await?;
    assert_eq!((again.added, again.known), (0, 11), "a picture is taken in once");

    let lines = std::fs::read_to_string(demo("exceptions.jsonl"))?;
    let receipts: Vec<&str> = lines.lines().filter(|line| line.contains(r#""image":"#)).collect();
    enqueue::enqueue_reader(&producer, receipts.join("\n").as_bytes(), "demo").await?;
    let mut shown = 0;
    for item in lease(&alice.backlog, alice.desk, 1_000).await?.items {
        let document: serde_json::Value = serde_json::from_str(&item.body)?;
        let picture = alice.backlog.picture(alice.desk, item.id).await?;
        let Some(name) = document["payload"]["image"].as_str() else {
            assert_eq!(picture, None);
            continue;
        };
        let picture = picture.expect("it was taken in");
        let page = pictures.iter().find(|one| one.file.ends_with(name)).and_then(|one| one.page);
        assert_eq!(page, Some((picture.page_width, picture.page_height)), "{name}");
        assert_eq!(picture.media_type, "image/jpeg");
        assert_eq!(picture.bytes, std::fs::read(demo("pictures").join(name))?, "{name}");
        shown += 1;
    }
    assert_eq!(shown, 9, "two were read well enough to need nobody");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_picture_or_would_replace_one_is_refused() -> anyhow::Result<()> {
    let office = Office::open().await?;
    let folder = tempfile::tempdir()?;
    let put = |name: &str, bytes: &[u8]| -> anyhow::Result<Attachment> {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes)?;
        Ok(Attachment { file, page: Some((10, 20)) })
    };
    let jpeg = std::fs::read(demo("pictures/sroie-020.jpg"))?;
    let good = put("good.jpg", &jpeg)?;
    assert_eq!(attach(&office.supervisor, std::slice::from_ref(&good)).await?.added, 1);
    let large = [&jpeg[..], &vec![0; 4_000_001 - jpeg.len()]].concat();
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere)?;
    let other = Attachment { file: elsewhere.join("good.jpg"), page: Some((10, 20)) };
    std::fs::write(&other.file, [&jpeg[..], b"x"].concat())?;
    for (wrong, words) in [
        (put("text.jpg", b"GIF89a")?, "neither JPEG nor PNG"),
        (put("large.jpg", &large)?, "more than 4000000 bytes"),
        (other, "another picture"),
        (Attachment { page: Some((11, 20)), ..good }, "another page"),
        (Attachment { file: folder.path().join("missing.jpg"), page: None }, "cannot read"),
    ] {
        let refused = attach(&office.supervisor, std::slice::from_ref(&wrong)).await.expect_err(words).to_string();
        assert!(refused.contains(words), "{refused}");
    }
    let list = folder.path().join("manifest.tsv");
    for (text, words) in [
        ("name page\n", "the first line is"),
        ("name\tpage_width\tpage_height\na.jpg\t1\n", "line 2: expected three columns"),
        ("name\tpage_width\tpage_height\n../a.jpg\t1\t1\n", "line 2: a picture lies beside"),
        ("name\tpage_width\tpage_height\n\na.jpg\t1\t0\n", "line 3: expected a width"),
    ] {
        std::fs::write(&list, text)?;
        let refused = manifest(&list).await.expect_err(words).to_string();
        assert!(refused.contains(words), "{refused}");
    }
    Ok(())
}
