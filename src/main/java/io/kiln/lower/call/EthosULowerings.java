// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.call;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosUTensor;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.npu.DriverPayload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Stmt;

/** Lowerings around an NPU: its own operator is a code generator's, what it leaves in its arena is copied. */
final class EthosULowerings {
    private EthosULowerings() {}

    /** Refuses a part for an NPU that no code generator of the target has taken. */
    static LoweredOperator refuse(FusedOperator op) {
        EthosU part = (EthosU) op.root().op();
        String where = op.root().origin().text();
        DriverPayload payload = DriverPayload.read(
                op.root().constant(part.payload()).data(),
                (what, expected) -> new KilnException(Failure.MODEL.problem(what, where, expected, "")));
        throw new KilnException(Failure.TARGET.problem(
                "Vela compiled this part of the model for an "
                        + payload.configuration().name() + ", and the target has no NPU",
                where,
                "a board with the key `npu`, or a target that begins with `ethos-u -accelerator_config="
                        + payload.configuration().name() + ", `",
                "Choose another board, or build from the model as it was before Vela"));
    }

    static LoweredOperator tensor(FusedOperator op, Rows rows) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        EthosUTensor root = (EthosUTensor) op.root().op();
        BlockBuilder body = new BlockBuilder();
        Buffer from = body.view("tensor", buffers.argument(0), Exprs.imm(root.offset()));
        body.add(new Stmt.Copy(buffers.output(), from, op.type().bytes()));
        return Nests.operator(op, buffers, tables, rows, Nests.allRows(op), body.build(), "copy");
    }
}
