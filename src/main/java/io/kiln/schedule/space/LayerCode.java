// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.tir.Buffer;

/** What the loops of any schedule read of the layer that they compute. */
public abstract class LayerCode {
    /** The layer. */
    protected final ConvComputation conv;

    /** Rows of its output to compute. */
    protected final Rows rows;

    /** Its data. */
    protected final Buffer input;

    /** Its results. */
    protected final Buffer output;

    protected LayerCode(ConvTask task) {
        this.conv = task.conv();
        this.rows = task.rows();
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
    }
}
