// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import java.util.Map;
import java.util.Optional;

/** Measures images of a build that are made in different ways. */
interface FitImages {
    /**
     * An image's memory and cycles; one that was measured is not measured again.
     *
     * @return empty if the image is too large for every machine that could run it
     */
    Optional<FitImage> measured(FitWay way);

    /** All images that were measured, in this order; without those that are too large to run. */
    Map<FitWay, FitImage> all();
}
