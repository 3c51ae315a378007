/// The page that stands for every other while the database is away: whole in itself, tries again by
/// itself, in the same look. `css_href` is the stylesheet's address.
#[must_use]
pub fn unavailable(css_href: &str) -> String {
    let css: String = css_href
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "/._-".contains(*c))
        .collect();
    format!(
        r##"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="5">
<title>The database is away · Hopwise</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{css}">
</head><body>
<header class="topbar"><div class="bar"><a href="/" class="brand">Hopwise</a></div></header>
<main id="main"><div class="page-narrow"><section class="panel p-4" role="alert">
<h1 class="text-lg font-semibold">The database does not answer</h1>
<p>Nothing is lost. Hopwise keeps trying, and this page loads again every 5 seconds.</p>
<p class="text-muted">If it stays: the server’s log says why, and so does PostgreSQL’s.</p>
</section></div></main>
</body></html>
"##
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_tries_again_and_takes_no_markup_from_its_argument() {
        let page = super::unavailable("/pkg/hopwise.abc.css\"><script>");
        assert!(page.contains(r#"http-equiv="refresh" content="5""#));
        assert!(page.contains(r#"href="/pkg/hopwise.abc.cssscript""#));
        assert!(!page.contains("<script"));
    }
}
