// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.tir.Buffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The pointer parameters of an operator: its inputs in order, including those it changes, its output unless that is
 * {@link io.kiln.ir.type.TensorType#UNIT}, then its scratch if there is any,
 * then the contexts of devices.
 */
public final class OperatorBuffers {
    private static final int SCRATCH_ALIGNMENT = 8;

    private final FusedOperator op;
    private final Tables tables;
    private final Map<Integer, Buffer> inputs = new LinkedHashMap<>();
    private final Buffer output;
    private final List<Buffer> scratch = new ArrayList<>();
    private final Set<Buffer> devices = new LinkedHashSet<>();
    private final Optional<Part> part;

    /**
     * A part of an operator.
     *
     * @param whole receives its scratch
     * @param input its data in place of the operator's first argument
     * @param free scratch of earlier parts that it has not taken
     */
    private record Part(OperatorBuffers whole, Buffer input, List<Buffer> free) {}

    /** The parameters of an operator that has a table of each constant argument. */
    public OperatorBuffers(FusedOperator op) {
        this(op, new Tables(op.name()));
    }

    /** The same with tables that others collect, too. */
    public OperatorBuffers(FusedOperator op, Tables tables) {
        this.op = op;
        this.tables = tables;
        boolean isOnly = op.inputs().size() == 1;
        List<Arg> args = op.root().args();
        for (int argument = 0; argument < args.size(); argument++) {
            if (args.get(argument) instanceof Arg.Ref ref && !inputs.containsKey(ref.id())) {
                String name = isOnly ? "input" : "input" + inputs.size();
                inputs.put(
                        ref.id(),
                        new Buffer(
                                name,
                                op.rootTypes().get(argument).dtype(),
                                op.rootTypes().get(argument).shape().elements(),
                                op.root().op().writes().contains(argument) ? Buffer.Scope.OUTPUT : Buffer.Scope.INPUT));
            }
        }
        output = new Buffer("output", op.type().dtype(), op.type().shape().elements(), Buffer.Scope.OUTPUT);
        part = Optional.empty();
    }

    private OperatorBuffers(Part part, Buffer output) {
        this.op = part.whole.op;
        this.tables = part.whole.tables;
        this.output = output;
        this.part = Optional.of(part);
    }

    /**
     * The memory of a part of the operator, which runs after those before it, so that it may take their scratch.
     *
     * @param input its data in place of the operator's first argument
     * @param output what it writes
     * @param kept scratch that it must not take
     */
    public OperatorBuffers part(Buffer input, Buffer output, List<Buffer> kept) {
        List<Buffer> free = new ArrayList<>(scratch);
        free.removeAll(kept);
        return new OperatorBuffers(new Part(this, input, free), output);
    }

    /** The operator. */
    FusedOperator op() {
        return op;
    }

    /** Its constant tables. */
    public Tables tables() {
        return tables;
    }

    /** The buffer of an argument: a parameter, or a table if the argument is constant. */
    public Buffer argument(int index) {
        if (part.isPresent()) {
            return index == 0 ? part.get().input : part.get().whole.argument(index);
        }
        Arg arg = op.root().args().get(index);
        if (arg instanceof Constant constant) {
            return tables.add("operand" + index, constant.type().dtype(), constant.data());
        }
        return inputs.get(((Arg.Ref) arg).id());
    }

    public Buffer output() {
        return output;
    }

    /** Reserves memory that lives while the operator runs, aligned to 8 bytes. */
    public Buffer scratch(DType dtype, long elements) {
        if (part.isPresent()) {
            return scratchOf(part.get(), dtype, elements);
        }
        String name = scratch.isEmpty() ? "scratch" : "scratch" + (scratch.size() + 1);
        Buffer buffer = new Buffer(name, dtype, elements, Buffer.Scope.SCRATCH);
        scratch.add(buffer);
        return buffer;
    }

    private static Buffer scratchOf(Part part, DType dtype, long elements) {
        Optional<Buffer> taken = part.free.stream()
                .filter(buffer -> buffer.dtype() == dtype && buffer.elements() >= elements)
                .findFirst();
        taken.ifPresent(part.free::remove);
        return taken.orElseGet(() -> part.whole.scratch(dtype, elements));
    }

    /** The context of a device, by the name of its parameter. */
    public Buffer device(String name) {
        Buffer context = Buffer.device(name);
        devices.add(context);
        return context;
    }

    /** Bytes of scratch reserved, {@link #nextScratch one after another}. */
    public long scratchBytes() {
        long bytes = 0;
        for (Buffer buffer : scratch) {
            bytes = nextScratch(bytes) + buffer.bytes();
        }
        return bytes;
    }

    /** Offset of scratch that follows this many bytes of other scratch. */
    public static long nextScratch(long bytes) {
        return (bytes + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
    }

    /** Inputs, the output unless it is empty, the scratch if there is any, the contexts of devices. */
    public List<Buffer> parameters() {
        List<Buffer> parameters = new ArrayList<>(inputs.values());
        if (output.elements() > 0) {
            parameters.add(output);
        }
        parameters.addAll(scratch);
        parameters.addAll(devices);
        return parameters;
    }
}
