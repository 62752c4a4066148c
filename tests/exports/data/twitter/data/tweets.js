window.YTD.tweets.part0 = [
 {"tweet": {"id_str": "3", "created_at": "Mon May 01 10:20:00 +0000 2023",
  "full_text": "And a second one &amp; more."}},
 {"tweet": {"id_str": "2", "created_at": "Mon May 01 10:00:00 +0000 2023",
  "full_text": "A first thought https://t.co/abc"}},
 {"tweet": {"id_str": "4", "created_at": "Mon May 01 12:00:00 +0000 2023",
  "full_text": "RT @bob: his words https://t.co/x", "entities": {"user_mentions": [{"name": "Bob Stone",
  "screen_name": "bob"}]}}},
 {"tweet": {"id_str": "5", "created_at": "Tue May 02 10:00:00 +0000 2023", "full_text": "@bob @eve No, @carl said so.",
  "in_reply_to_screen_name": "bob", "in_reply_to_user_id": "9"}},
 {"tweet": {"id_str": "6", "created_at": "Wed May 03 10:00:00 +0000 2023", "full_text": "@bob is funny"}},
 {"tweet": {"id_str": "7", "created_at": "Thu May 04 10:00:00 +0000 2023",
  "full_text": "Indeed! RT @eve: all this is hers"}},
 {"tweet": {"id_str": "8", "created_at": "Fri May 05 10:00:00 +0000 2023",
  "full_text": "“@eve: is hers” but this is mine"}}
]
