// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.base.KilnException;

/** A failure of one device as an exception. */
public final class FlashFailed extends KilnException {
    private static final long serialVersionUID = 1;

    private final transient FlashFailure failure;

    /**
     * A failure.
     *
     * @param where the probe, the board's description or the goal
     */
    FlashFailed(FlashFailure failure, String where) {
        super(failure.problem(where));
        this.failure = failure;
    }

    public FlashFailure failure() {
        return failure;
    }
}
