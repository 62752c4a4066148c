window.YTD.account.part0 = [
 {"account": {"username": "zoe_l", "accountId": "1", "accountDisplayName": "Zoë Lee"}}
];
