// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import java.util.List;

/** A transposed convolution, NHWC. */
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

    /** Products are not counted, because their number also depends on the borders. */
    @Override
    default List<Integer> weights() {
        return List.of();
    }
}
