// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.farm.lease.BoardLease;
import java.time.Duration;

/** Renews a lease while a board is in use. */
final class LeaseRenewal implements AutoCloseable {
    private static final int PER_TERM = 3;

    private final BoardLease lease;
    private final Duration every;
    private final Thread user;
    private volatile boolean isHeld = true;
    private final Thread thread = new Thread(this::renew, "board-lease");

    private LeaseRenewal(BoardLease lease, Duration term, Thread user) {
        this.lease = lease;
        this.user = user;
        this.every = term.dividedBy(PER_TERM);
    }

    /**
     * Starts to renew a lease.
     *
     * @param user is interrupted if the lease ends while it uses the board
     */
    static LeaseRenewal start(BoardLease lease, Duration term, Thread user) {
        LeaseRenewal renewal = new LeaseRenewal(lease, term, user);
        renewal.thread.setDaemon(true);
        renewal.thread.start();
        return renewal;
    }

    private void renew() {
        try {
            while (isHeld) {
                Thread.sleep(every.toMillis());
                if (isHeld && !lease.renew()) {
                    isHeld = false;
                    user.interrupt();
                }
            }
        } catch (InterruptedException e) {
            isHeld = false;
        }
    }

    /** False after the lease ended. */
    boolean isHeld() {
        return isHeld;
    }

    @Override
    public void close() {
        isHeld = false;
        thread.interrupt();
    }
}
