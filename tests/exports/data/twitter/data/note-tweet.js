window.YTD.note_tweet.part0 = [
 {"noteTweet": {"noteTweetId": "1", "createdAt": "2023-05-06T10:00:00.000Z",
  "core": {"text": "https://t.co/b This is a long tweet that goes on and on about the sea, the harbour and the grey sky over it, and about boats &amp; ropes."}}}
]
