// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.fit;

import java.util.Map;

/** Measures images of a build that are made in different ways. */
interface FitImages {
    /** An image's memory and cycles; one that was measured is not measured again. */
    FitImage measured(FitWay way);

    /** All images that were measured, in this order. */
    Map<FitWay, FitImage> all();
}
