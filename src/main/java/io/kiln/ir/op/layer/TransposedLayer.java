// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;

/** A transposed convolution, NHWC. Its products are not counted, because their number also depends on the borders. */
interface TransposedLayer extends Layer {
    /** Its geometry. */
    TransposedWindow window();

    @Override
    default Window geometry() {
        return window().window();
    }

    @Override
    default boolean isTransposed() {
        return true;
    }
}
