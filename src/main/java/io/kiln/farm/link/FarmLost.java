// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;

/** The broker cannot be reached, or not any more. It may be back later. */
public final class FarmLost extends KilnException {
    private static final long serialVersionUID = 1L;

    /** @param problem why, and what to do */
    FarmLost(Problem problem, Throwable cause) {
        super(problem, cause);
    }

    /** A connection that ended. */
    static FarmLost later(String url, Throwable cause) {
        return new FarmLost(
                Failure.FARM.problem("the connection to the farm's broker was lost: " + cause.getMessage(), url),
                cause);
    }
}
