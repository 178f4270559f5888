// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.lease;

/** One board, for as long as its holder renews the lease. */
public final class BoardLease implements AutoCloseable {
    private final BoardLeases leases;
    private final String probe;
    private final String token;

    BoardLease(BoardLeases leases, String probe, String token) {
        this.leases = leases;
        this.probe = probe;
        this.token = token;
    }

    /** Extends the lease; false if it has ended, and the board may be somebody else's. */
    public boolean renew() {
        return leases.renew(probe, token);
    }

    /** Gives the board back. */
    @Override
    public void close() {
        leases.release(probe, token);
    }
}
