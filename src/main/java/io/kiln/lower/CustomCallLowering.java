// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.ir.op.CustomCall;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;

/** A call of a function that the user wrote in C: {@code int32_t f(const T* input0, …, T* output0, …)}. */
public final class CustomCallLowering {
    private final FusedOperator op;
    private final CustomCall custom;
    private final Tables tables;
    private final OperatorBuffers buffers;

    public CustomCallLowering(FusedOperator op) {
        this.op = op;
        this.custom = (CustomCall) op.root().op();
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
    }

    public LoweredOperator lower(Rows rows) {
        List<Buffer> passed = new ArrayList<>();
        for (int i = 0; i < custom.arity(); i++) {
            passed.add(buffers.argument(i));
        }
        passed.add(custom.inputs(), buffers.output());
        BlockBuilder body = new BlockBuilder().call(kernel(passed), passed, List.of());
        return Nests.operator(
                op, buffers, tables, rows, Nests.allRows(op), body.build(), "call of " + custom.function());
    }

    /** The function's declaration, which the compiler holds against the one in the user's header. */
    private Kernel kernel(List<Buffer> passed) {
        List<Pointer> pointers = new ArrayList<>();
        List<String> parameters = new ArrayList<>();
        for (int i = 0; i < passed.size(); i++) {
            DType dtype = passed.get(i).dtype();
            boolean written = i >= custom.inputs();
            pointers.add(new Pointer(dtype, written));
            parameters.add((written ? "" : "const ") + dtype.cName() + "* "
                    + (written ? "output" + (i - custom.inputs()) : "input" + i));
        }
        String include = custom.header().isEmpty() ? "" : "#include \"" + custom.header() + "\"\n";
        String comment = "/* The user's own. */\n";
        String prototype = "int32_t " + custom.function() + "(" + String.join(", ", parameters) + ");\n";
        boolean bools = passed.stream().anyMatch(buffer -> buffer.dtype() == DType.BOOL);
        return new Kernel(
                custom.function(),
                pointers,
                List.of(),
                bools ? List.of("stdbool.h") : List.of(),
                include + comment + prototype,
                List.of(),
                true);
    }
}
