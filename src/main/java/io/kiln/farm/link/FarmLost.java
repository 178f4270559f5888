// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;

/** The broker cannot be reached, or not any more. It may be back later. */
public final class FarmLost extends KilnException {
    private static final long serialVersionUID = 1L;

    FarmLost(String url, Throwable cause) {
        super(
                Failure.FARM.problem(
                        "the farm's broker cannot be reached: " + cause.getMessage(),
                        url,
                        expected(url),
                        "Start one with kiln:farm, or leave kiln.farm out"),
                cause);
    }

    /** What was expected at an address. With TLS 1.3, a member whose certificate the broker does not trust only sees that the connection ends. */
    private static String expected(String url) {
        return url.startsWith("tls:")
                ? "a broker that trusts the certificate in kiln.farm.keyStore, and whose own is in kiln.farm.trustStore"
                : "a broker";
    }
}
