/// Every route of the mock store.
extension WorldState {
  static var storeRoutes: [Route] {
    [
      Route(method: "POST", path: "/verifyReceipt", handle: verifyProduction),
      Route(method: "GET", path: "/verifyReceipt", handle: verifyProduction),
      Route(method: "POST", path: "/sandbox/verifyReceipt", handle: verifySandbox),
      Route(method: "GET", path: "/sandbox/verifyReceipt", handle: verifySandbox),
      Route(method: "GET", path: "/inApps/v1/transactions/*", handle: transactionInfo),
      Route(method: "GET", path: "/inApps/v1/history/*", handle: transactionHistory),
      Route(method: "GET", path: "/store/products", handle: products),
      Route(method: "POST", path: "/store/payments", handle: pay),
      Route(method: "GET", path: "/store/unfinished", handle: unfinished),
      Route(method: "POST", path: "/store/finish", handle: finish),
      Route(method: "POST", path: "/store/refunds", handle: refund),
      Route(method: "POST", path: "/store/refunds/reversals", handle: reverseRefund),
      Route(method: "POST", path: "/store/renewals", handle: renew),
      Route(method: "GET", path: "/store/receipt", handle: receipt),
      Route(method: "POST", path: "/store/receipt/refresh", handle: refreshReceipt),
      Route(method: "POST", path: "/store/sign-in", handle: signIn),
      Route(method: "GET", path: "/store/requests", handle: requests),
      Route(method: "POST", path: "/store/requests/approve", handle: approve),
      Route(method: "POST", path: "/store/requests/decline", handle: decline),
      Route(method: "POST", path: "/store/promotions", handle: promote),
      Route(method: "POST", path: "/store/offer-codes", handle: redeem),
      Route(method: "POST", path: "/store/restore", handle: restore),
      Route(method: "POST", path: "/store/accounts", handle: setAccount),
      Route(method: "POST", path: "/store/plans", handle: changePlan),
      Route(method: "POST", path: "/store/renewal-wishes", handle: setRenewal),
      Route(method: "POST", path: "/store/prices", handle: raisePrice),
      Route(method: "POST", path: "/store/price-answers", handle: consent),
      Route(method: "GET", path: "/store/notifications", handle: notifications),
    ]
  }
}
