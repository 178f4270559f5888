// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import io.kiln.base.Log;

/** Hears what happens in a farm. Thread-safe; never throws. */
@FunctionalInterface
public interface FarmEvents {
    /** Something happened. */
    void happened(FarmEvent event);

    /** Writes a line for each event to a log. */
    static FarmEvents to(Log log) {
        return event -> {
            if (event.kind().isWarning()) {
                log.warn(event.text());
            } else {
                log.info(event.text());
            }
        };
    }

    /** Tells another one as well, afterwards. */
    default FarmEvents and(FarmEvents other) {
        return event -> {
            happened(event);
            other.happened(event);
        };
    }
}
