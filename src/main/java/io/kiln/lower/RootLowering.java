// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

/** What the lowering of any operator reads: the operator, and its parameters. */
public abstract class RootLowering {
    /** The operator. */
    protected final FusedOperator op;

    /** Its parameters. */
    protected final OperatorBuffers buffers;

    protected RootLowering(FusedOperator op) {
        this.op = op;
        this.buffers = new OperatorBuffers(op);
    }
}
