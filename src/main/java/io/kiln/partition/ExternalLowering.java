// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.base.DType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Lowers a composite to the call of its external function; its tables and its scratch are the operator's. */
final class ExternalLowering {
    private final FusedOperator op;
    private final ExternalFunction function;
    private final ExternalCall call;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final List<Buffer> passed = new ArrayList<>();
    private final List<Pointer> pointers = new ArrayList<>();

    private ExternalLowering(FusedOperator op, ExternalFunction function, ExternalCall call) {
        this.op = op;
        this.function = function;
        this.call = call;
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
    }

    static LoweredOperator lower(FusedOperator op, ExternalFunction function, ExternalCall call, Rows rows) {
        return new ExternalLowering(op, function, call).lower(rows);
    }

    private LoweredOperator lower(Rows rows) {
        IntStream.range(0, function.inputs().size()).forEach(i -> pass(buffers.argument(i), false));
        call.constants().forEach(table -> pass(tables.add(table.name(), table.dtype(), table.data()), false));
        pass(buffers.output(), true);
        if (call.contextBytes() > 0) {
            pass(buffers.scratch(DType.UINT8, call.contextBytes()), true);
        }
        BlockBuilder body = new BlockBuilder().call(kernel(), passed, List.of());
        return Nests.operator(op, buffers, tables, rows, Nests.allRows(op), body.build(), call.schedule())
                .because("taken by " + function.composite().compiler());
    }

    private void pass(Buffer buffer, boolean isWritten) {
        passed.add(buffer);
        pointers.add(new Pointer(buffer.dtype(), isWritten));
    }

    private Kernel kernel() {
        boolean bools = passed.stream().anyMatch(buffer -> buffer.dtype() == DType.BOOL);
        return new Kernel(
                function.symbol(),
                pointers,
                List.of(),
                bools ? List.of("stdbool.h") : List.of(),
                "/* " + function.composite().name() + ", compiled by "
                        + function.composite().compiler() + ". */\nint32_t " + function.symbol() + "("
                        + String.join(", ", call.parameters(function)) + ");\n",
                List.of(),
                true);
    }
}
