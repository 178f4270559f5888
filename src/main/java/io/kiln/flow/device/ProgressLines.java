// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Log;
import io.kiln.device.flash.FlashProgress;

/** Progress as a few lines, for log files. */
final class ProgressLines implements FlashProgress {
    private static final int STEP_PERCENT = 25;

    private final Log log;
    private final long total;
    private long told;

    /** Shows progress towards a total number of bytes. */
    ProgressLines(Log log, long total) {
        this.log = log;
        this.total = total;
    }

    @Override
    public void erasing() {
        log.debug("erasing");
    }

    @Override
    public void written(long soFar) {
        long bytes = Math.min(soFar, total);
        long percent = bytes * 100 / total;
        if (percent >= told + STEP_PERCENT) {
            told = percent - percent % STEP_PERCENT;
            log.info("Wrote " + bytes + " of " + total + " bytes, " + percent + " %");
        }
    }

    @Override
    public void verifying() {
        log.debug("verifying");
    }
}
