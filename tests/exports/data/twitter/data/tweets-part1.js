window.YTD.tweets.part1 = [
 {"tweet": {"id_str": "9", "created_at": "Sat May 06 10:00:00 +0000 2023",
  "full_text": "@bob https://t.co/a This is a long tweet that goes on and on about the sea, the harbour and the grey sky over it, … https://t.co/long",
  "in_reply_to_screen_name": "bob"}},
 {"tweet": {"id_str": "1", "created_at": "Sat Apr 01 10:00:00 +0000 2023", "full_text": "Oldest, of another part"}}
]
