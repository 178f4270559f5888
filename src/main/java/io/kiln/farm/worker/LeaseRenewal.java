// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.worker;

import io.kiln.base.KilnException;
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
            int failed = 0;
            while (isHeld) {
                Thread.sleep(every.toMillis());
                failed = renewal(failed);
            }
        } catch (InterruptedException e) {
            isHeld = false;
        }
    }

    /** Renews once. A disk that is full for a moment costs nothing; a lease that was not renewed for its term has ended. */
    private int renewal(int failed) {
        boolean isRenewed = false;
        int failures = failed;
        try {
            isRenewed = isHeld && lease.renew();
            failures = isRenewed ? 0 : PER_TERM;
        } catch (KilnException e) {
            failures++;
        }
        if (isHeld && !isRenewed && failures >= PER_TERM) {
            isHeld = false;
            user.interrupt();
        }
        return failures;
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
