// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.call;

import static io.kiln.lower.OperatorLowering.entry;
import static io.kiln.lower.OperatorLowering.simple;

import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.ControlFlow.If;
import io.kiln.ir.op.call.ControlFlow.While;
import io.kiln.ir.op.call.CustomCall;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosU.EthosUTensor;
import io.kiln.lower.Callee;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RootLowering;
import io.kiln.lower.Rows;
import io.kiln.npu.DriverPayload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Lowerings of the operators that call functions, of the model or of the user, and of those around an NPU. */
public final class CallLowerings {
    public static final Map<Class<? extends Op>, OperatorLowering<Op>> ALL = Map.ofEntries(
            entry(If.class, (op, choice, rows, c) -> new ControlFlowLowering(op, c.callees()).choose(choice, rows)),
            entry(While.class, (op, loop, rows, c) -> new ControlFlowLowering(op, c.callees()).repeat(loop, rows)),
            simple(CustomCall.class, (op, rows) -> new CustomCallLowering(op).lower(rows)),
            simple(EthosU.class, (op, rows) -> refuse(op)),
            simple(EthosUTensor.class, CallLowerings::tensor));

    private CallLowerings() {}

    /**
     * Lowers operators that call functions. Their scratch holds the functions' workspace; a loop's also holds, before it, the condition
     * and the new values of the loop's variables, which are copied after the body has finished with the old ones.
     */
    private static final class ControlFlowLowering extends RootLowering {
        /** Alignment in bytes of everything in scratch. */
        private static final int ALIGNMENT = 8;

        private final List<Callee> callees;

        /**
         * Prepares the lowering.
         *
         * @param callees the caller's functions by index
         */
        ControlFlowLowering(FusedOperator op, List<Callee> callees) {
            super(op);
            this.callees = callees;
        }

        LoweredOperator choose(If choice, Rows rows) {
            BlockBuilder body = new BlockBuilder();
            choose(body, choice);
            return lowered(body, rows);
        }

        LoweredOperator repeat(While loop, Rows rows) {
            BlockBuilder body = new BlockBuilder();
            repeat(body, loop);
            return lowered(body, rows);
        }

        private LoweredOperator lowered(BlockBuilder body, Rows rows) {
            return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), "call");
        }

        private void choose(BlockBuilder body, If choice) {
            Callee then = callees.get(choice.then());
            Callee otherwise = callees.get(choice.otherwise());
            Optional<Buffer> scratch = scratch(Math.max(then.workspaceBytes(), otherwise.workspaceBytes()));
            List<Buffer> passed = arguments(1, choice.firstVariable());
            body.ifThenElse(
                    Exprs.load(buffers.argument(0), Exprs.imm(0)),
                    b -> b.add(call(then, passed, choice.firstVariable(), choice.thenVariables(), scratch)),
                    b -> b.add(call(otherwise, passed, choice.firstVariable(), choice.otherwiseVariables(), scratch)));
        }

        private List<Buffer> arguments(int from, int to) {
            return IntStream.range(from, to).mapToObj(buffers::argument).toList();
        }

        private Stmt call(
                Callee callee,
                List<Buffer> passed,
                int firstVariable,
                List<Integer> variables,
                Optional<Buffer> scratch) {
            List<Buffer> all = new ArrayList<>(passed);
            variables.forEach(v -> all.add(buffers.argument(firstVariable + v)));
            if (callee.workspaceBytes() > 0) {
                all.add(scratch.orElseThrow());
            }
            callee.function().buffers().stream()
                    .filter(buffer -> buffer.scope() == Buffer.Scope.DEVICE)
                    .forEach(context -> all.add(buffers.device(context.name())));
            return new Stmt.CallFunction(callee.function().name(), all, List.of());
        }

        private Optional<Buffer> scratch(long bytes) {
            return bytes == 0 ? Optional.empty() : Optional.of(buffers.scratch(DType.UINT8, bytes));
        }

        private void repeat(BlockBuilder body, While loop) {
            Callee condition = callees.get(loop.condition());
            Callee step = callees.get(loop.body());
            List<Buffer> old = arguments(0, loop.loopVariables());
            List<Long> offsets = new ArrayList<>();
            long bytes = ALIGNMENT;
            for (Buffer variable : old) {
                offsets.add(bytes);
                bytes += aligned(variable.bytes());
            }
            long needed = Math.max(condition.workspaceBytes(), step.workspaceBytes());
            Buffer scratch = buffers.scratch(DType.UINT8, bytes + needed);
            Buffer goesOn = view(body, "goes_on", DType.BOOL, 1, scratch, 0);
            List<Buffer> fresh = new ArrayList<>();
            for (int i = 0; i < old.size(); i++) {
                Buffer variable = old.get(i);
                fresh.add(view(body, "next" + i, variable.dtype(), variable.elements(), scratch, offsets.get(i)));
            }
            Optional<Buffer> workspace = needed == 0
                    ? Optional.empty()
                    : Optional.of(body.mutableView("workspace", scratch, Exprs.imm(bytes)));
            List<Buffer> asked = new ArrayList<>(old);
            asked.add(goesOn);
            Stmt ask = call(condition, asked, loop.loopVariables(), loop.conditionVariables(), workspace);
            List<Buffer> passed = new ArrayList<>(old);
            passed.addAll(fresh);
            BlockBuilder inner = new BlockBuilder();
            inner.add(call(step, passed, loop.loopVariables(), loop.bodyVariables(), workspace));
            for (int i = 0; i < old.size(); i++) {
                inner.add(new Stmt.Copy(old.get(i), fresh.get(i), old.get(i).bytes()));
            }
            body.add(ask)
                    .add(new Stmt.While(
                            Exprs.load(goesOn, Exprs.imm(0)), inner.add(ask).build()));
        }

        private static long aligned(long bytes) {
            return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }

        private static Buffer view(
                BlockBuilder body, String name, DType dtype, long elements, Buffer base, long offset) {
            Buffer view = new Buffer(name, dtype, elements, Buffer.Scope.MUTABLE_VIEW);
            body.add(new Stmt.DeclareView(view, base, Exprs.imm(offset)));
            return view;
        }
    }

    /**
     * A call of the user's C function: {@code int32_t f(const T* input0, …, T* output0, …)}, after the tensors optionally
     * {@code const float* scales, const int32_t* zero_points} and {@code const uint8_t* options, int32_t options_size}.
     */
    private static final class CustomCallLowering extends RootLowering {
        private final CustomCall custom;

        CustomCallLowering(FusedOperator op) {
            super(op);
            this.custom = (CustomCall) op.root().op();
        }

        LoweredOperator lower(Rows rows) {
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
            return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), "call of " + custom.function());
        }

        private Buffer table(String name, int argument, String comment) {
            return op.root().args().get(argument) instanceof Constant constant
                    ? buffers.tables().add(name, constant.type().dtype(), constant.data(), comment)
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

    /** Refuses a part for an NPU that no code generator of the target has taken. */
    private static LoweredOperator refuse(FusedOperator op) {
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

    private static LoweredOperator tensor(FusedOperator op, Rows rows) {
        OperatorBuffers buffers = new OperatorBuffers(op);
        EthosUTensor root = (EthosUTensor) op.root().op();
        BlockBuilder body = new BlockBuilder();
        Buffer from = body.view("tensor", buffers.argument(0), Exprs.imm(root.offset()));
        body.add(new Stmt.Copy(buffers.output(), from, op.type().bytes()));
        return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), "copy");
    }
}
