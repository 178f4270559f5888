// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.session;

/** Nonces of a session: 8 bits, 0 is none. */
public final class Nonce {
    private static final int BITS = 0xFF;
    private static final int SHIFT = 5;

    private Nonce() {}

    /**
     * The nonce that a side takes for its next start or reply: {@code (n<<5 | n>>5) + 1} in 8 bits, and 1 in place of 0. Several nonces
     * have the same successor.
     */
    public static int after(int nonce) {
        int next = ((nonce << SHIFT | nonce >>> SHIFT) + 1) & BITS;
        return next == 0 ? 1 : next;
    }
}
