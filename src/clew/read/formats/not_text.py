"""What files without text are, by their names: words for whoever asks why one is not read."""

from __future__ import annotations

from pathlib import PurePath

UNKNOWN = "not text in UTF-8, nor in another encoding that is known"
_TO_DO = {
    "an office document: save it as PDF, HTML or text": (
        "doc docm dot dotx epub key mobi odp odt one pages ppt pptm pptx rtf sxw wpd"
    ),
    "a spreadsheet: save it as CSV": "numbers ods xls xlsb xlsm xlsx",
    "an archive: unpack it": (
        "7z bz2 cab deb gz iso jar lz4 lzma rar rpm tar tbz tgz txz whl xz zip zst"
    ),
    "a picture": "avif bmp gif heic ico jpeg jpg png psd tif tiff webp xcf",
    "sound or film": "aac avi flac m4a m4v mkv mov mp3 mp4 mpeg mpg oga ogg opus wav webm wma wmv",
}
_REASONS = {f".{one}": reason for reason, suffixes in _TO_DO.items() for one in suffixes.split()}


def why_no_text(name: str) -> str:
    """Return why a file that holds no text is not read, and what can be done about it.

    Args:
        name: The name of the file.

    Example:
        >>> why_no_text("offer.ODT"), why_no_text("logo.png")
        ('an office document: save it as PDF, HTML or text', 'a picture')
        >>> why_no_text("core")
        'not text in UTF-8, nor in another encoding that is known'
    """
    return _REASONS.get(PurePath(name.lower()).suffix, UNKNOWN)
