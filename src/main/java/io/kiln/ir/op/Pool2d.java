// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import java.util.Set;

/** Combines the elements inside each window, channel by channel, without padding. NHWC. Argument: data. */
public interface Pool2d extends Op {
    Window window();

    @Override
    default Set<DType> dataTypes() {
        return Set.of(DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32);
    }
}
