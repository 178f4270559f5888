// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.call;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;

/**
 * A call of the user's C function: {@code int32_t f(const T* input0, …, T* output0, …)}, after the tensors optionally
 * {@code const float* scales, const int32_t* zero_points} and {@code const uint8_t* options, int32_t options_size}.
 */
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
        for (int i = 0; i < custom.inputs(); i++) {
            passed.add(buffers.argument(i));
        }
        passed.add(buffers.output());
        for (int i = custom.reads(); i < custom.arity(); i++) {
            passed.add(buffers.argument(i));
        }
        List<Buffer> tensors = List.copyOf(passed);
        if (custom.quantization()) {
            passed.add(table("scales", custom.inputs(), "Of the inputs, then the outputs; 0 for none."));
            passed.add(table("zero_points", custom.inputs() + 1, "Of the inputs, then the outputs."));
        }
        if (custom.hasOptions()) {
            passed.add(table("options", custom.reads() - 1, "The operator's options, as the model has them."));
        }
        List<Expr> scalars = custom.hasOptions() ? List.of(Exprs.imm(custom.options())) : List.of();
        BlockBuilder body = new BlockBuilder().call(kernel(tensors), passed, scalars);
        return Nests.operator(
                op, buffers, tables, rows, Nests.allRows(op), body.build(), "call of " + custom.function());
    }

    private Buffer table(String name, int argument, String comment) {
        return op.root().args().get(argument) instanceof Constant constant
                ? tables.add(name, constant.type().dtype(), constant.data(), comment)
                : buffers.argument(argument);
    }

    /** The function's declaration, which the compiler checks against that in the user's header. */
    private Kernel kernel(List<Buffer> tensors) {
        List<Pointer> pointers = new ArrayList<>();
        List<String> parameters = new ArrayList<>();
        for (int i = 0; i < tensors.size(); i++) {
            DType dtype = tensors.get(i).dtype();
            boolean written = i >= custom.inputs();
            pointers.add(new Pointer(dtype, written));
            parameters.add((written ? "" : "const ") + dtype.cName() + "* "
                    + (written ? "output" + (i - custom.inputs()) : "input" + i));
        }
        if (custom.quantization()) {
            pointers.addAll(List.of(Pointer.in(DType.FLOAT32), Pointer.in(DType.INT32)));
            parameters.addAll(List.of("const float* scales", "const int32_t* zero_points"));
        }
        if (custom.hasOptions()) {
            pointers.add(Pointer.in(DType.UINT8));
            parameters.addAll(List.of("const uint8_t* options", "int32_t options_size"));
        }
        String include = custom.header().isEmpty() ? "" : "#include \"" + custom.header() + "\"\n";
        String comment = "/* The user's own. */\n";
        String prototype = "int32_t " + custom.function() + "(" + String.join(", ", parameters) + ");\n";
        boolean bools = tensors.stream().anyMatch(buffer -> buffer.dtype() == DType.BOOL);
        return new Kernel(
                custom.function(),
                pointers,
                custom.hasOptions() ? List.of(DType.INT32) : List.of(),
                bools ? List.of("stdbool.h") : List.of(),
                include + comment + prototype,
                List.of(),
                true);
    }
}
