// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.base.DType;
import io.kiln.base.ParameterValue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Facts about a compiled model that do not require reading its C.
 *
 * @param name module name, as in {@code tvmgen_<name>_run}
 * @param target target string, printed canonically
 * @param api how programs call it
 * @param memory its memory needs
 * @param plan the plan of the workspace
 * @param operators the lowered operators in execution order
 */
public record ModelMetadata(
        String name, String target, Interface api, Memory memory, Plan plan, List<OperatorInfo> operators) {
    public ModelMetadata {
        operators = List.copyOf(operators);
    }

    /** Who owns inputs and outputs. */
    public Io io() {
        return api.io();
    }

    /** Inputs in model order. */
    public List<TensorInfo> inputs() {
        return api.inputs();
    }

    /** Outputs in model order. */
    public List<TensorInfo> outputs() {
        return api.outputs();
    }

    /** Bytes of the planned workspace. */
    public long workspaceBytes() {
        return memory.workspaceBytes();
    }

    /** Alignment of the workspace in bytes. */
    public int workspaceAlignment() {
        return memory.workspaceAlignment();
    }

    public long constantBytes() {
        return memory.constantBytes();
    }

    /**
     * How programs call a model.
     *
     * @param executor kind of code that calls the operators in order
     * @param convention how tensors are passed
     * @param io who owns inputs and outputs
     * @param inputs in model order
     * @param outputs in model order
     * @param functions C names of the functions with the packed signature, in the order of a system library; the first one runs the model.
     *     Empty with the typed interface
     * @param devices whose drivers are called, in the order of the devices' struct
     */
    public record Interface(
            ExecutorKind executor,
            Convention convention,
            Io io,
            List<TensorInfo> inputs,
            List<TensorInfo> outputs,
            List<String> functions,
            List<DeviceHooks> devices) {
        public Interface {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
            functions = List.copyOf(functions);
            devices = List.copyOf(devices);
        }

        /** The interface of a model without devices. */
        public Interface(
                ExecutorKind executor,
                Convention convention,
                Io io,
                List<TensorInfo> inputs,
                List<TensorInfo> outputs,
                List<String> functions) {
            this(executor, convention, io, inputs, outputs, functions, List.of());
        }

        /** The typed interface of a model with the ahead-of-time executor. */
        public static Interface typed(Io io, List<TensorInfo> inputs, List<TensorInfo> outputs) {
            return new Interface(ExecutorKind.AOT, Convention.TYPED, io, inputs, outputs, List.of());
        }

        /** A copy with these packed functions. */
        public Interface withFunctions(List<String> packed) {
            return new Interface(executor, convention, io, inputs, outputs, packed, devices);
        }

        /** A copy with these devices. */
        public Interface withDevices(List<DeviceHooks> others) {
            return new Interface(executor, convention, io, inputs, outputs, functions, others);
        }
    }

    /**
     * Memory needs of a model.
     *
     * @param workspaceBytes size of the planned workspace, scratch included; with {@link Io#WORKSPACE} inputs and outputs too
     * @param workspaceAlignment alignment of the workspace in bytes
     * @param constantBytes bytes of weights, biases and tables in read-only memory
     * @param pools memory that the caller provides, in the order of the pools' struct
     * @param storages blocks of memory that the graph executor takes; empty for others
     * @param copies what a program copies to RAM when it starts
     */
    public record Memory(
            long workspaceBytes,
            int workspaceAlignment,
            long constantBytes,
            List<ExternalPool> pools,
            List<Storage> storages,
            RamCopies copies) {
        public Memory {
            pools = List.copyOf(pools);
            storages = List.copyOf(storages);
        }

        /** Memory inside the generated C, planned ahead of time. */
        public Memory(long workspaceBytes, int workspaceAlignment, long constantBytes) {
            this(workspaceBytes, workspaceAlignment, constantBytes, List.of(), List.of());
        }

        /** Memory of a model of which nothing is copied. */
        public Memory(
                long workspaceBytes,
                int workspaceAlignment,
                long constantBytes,
                List<ExternalPool> pools,
                List<Storage> storages) {
            this(workspaceBytes, workspaceAlignment, constantBytes, pools, storages, RamCopies.NONE);
        }
    }

    /**
     * What a program copies to RAM when it starts, so that an inference does not wait for flash.
     *
     * @param codeBytes bytes of micro-kernels, at most about
     * @param constantBytes bytes of weights and tables
     * @param savedCycles cycles of an inference that this saves, by the wait states of the board
     * @param nextSavedCycles those that the next kilobyte would save
     */
    public record RamCopies(long codeBytes, long constantBytes, long savedCycles, long nextSavedCycles) {
        /** Nothing is copied. */
        public static final RamCopies NONE = new RamCopies(0, 0, 0, 0);

        /** What is copied and what that gives, for people; empty if there is nothing to say. */
        public String text() {
            String next = nextSavedCycles > 0
                    ? String.format(
                            Locale.ROOT, "the next kilobyte of RAM would save about %,d cycles", nextSavedCycles)
                    : "";
            if (codeBytes + constantBytes == 0) {
                return next;
            }
            return String.format(Locale.ROOT, "copied to RAM at the start: %,d bytes of weights", constantBytes)
                    + (codeBytes > 0 ? String.format(Locale.ROOT, " and about %,d of code", codeBytes) : "")
                    + (savedCycles > 0
                            ? String.format(Locale.ROOT, ", which saves about %,d cycles of waiting", savedCycles)
                            : "")
                    + (next.isEmpty() ? "" : "; " + next);
        }
    }

    /**
     * Memory that a model's caller provides: a member of {@code struct tvmgen_<name>_workspace_pools}.
     *
     * @param name the member's name
     * @param kind what lies in it
     * @param bytes its size
     */
    public record ExternalPool(String name, Kind kind, long bytes) {
        /** What lies in a pool. */
        public enum Kind {
            /** Intermediate tensors, with workspace I/O inputs and outputs too. */
            WORKSPACE,
            /** Weights and tables; the header has their bytes as a macro. */
            CONSTANTS
        }
    }

    /**
     * A block of memory that the graph executor takes for tensors that are not needed at the same time.
     *
     * @param id its number in the graph
     * @param bytes of the largest of its tensors
     * @param inputBinding name of the input or parameter in it; empty if there is none
     */
    public record Storage(int id, long bytes, String inputBinding) {}

    /** Who owns the memory of inputs and outputs. */
    public enum Io {
        /** The caller passes pointers; inputs are never written; the workspace is internal. */
        CALLER,
        /** Inputs and outputs lie in one external workspace pool that the caller passes. */
        WORKSPACE;

        /**
         * Reads the value of {@code kiln.io}.
         *
         * @throws io.kiln.base.KilnException for any other value, with the list of values
         */
        public static Io of(String text) {
            return ParameterValue.of("kiln.io", Io.class, text);
        }

        /** The value of {@code kiln.io}. */
        public String text() {
            return ParameterValue.text(this);
        }
    }

    /**
     * A tensor at the model's interface or between operators.
     *
     * @param name name in the model file
     * @param cName sanitised name, a member of the generated struct; empty for internal tensors
     * @param dtype element type
     * @param shape dimensions
     * @param scale quantization scale, 0 if not quantized
     * @param zeroPoint quantization zero point
     * @param labels what its values, or its elements along the last dimension, stand for; empty if unknown
     */
    public record TensorInfo(
            String name,
            String cName,
            DType dtype,
            List<Integer> shape,
            float scale,
            int zeroPoint,
            List<String> labels) {
        /** A tensor without labels. */
        public TensorInfo(String name, String cName, DType dtype, List<Integer> shape, float scale, int zeroPoint) {
            this(name, cName, dtype, shape, scale, zeroPoint, List.of());
        }

        public TensorInfo {
            shape = List.copyOf(shape);
            labels = List.copyOf(labels);
        }

        public TensorInfo labelled(List<String> texts) {
            return new TensorInfo(name, cName, dtype, shape, scale, zeroPoint, texts);
        }

        public long elements() {
            return shape.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
        }

        /** Size in bytes. */
        public long bytes() {
            return elements() * dtype.bytes();
        }
    }

    /**
     * The memory plan.
     *
     * @param algorithm the planner that found it
     * @param bytes bytes planned
     * @param lowerBound peak of live bytes; no plan can be smaller
     * @param buffers the buffers in the workspace; empty if unknown
     */
    public record Plan(String algorithm, long bytes, long lowerBound, List<PlannedBuffer> buffers) {
        public Plan {
            buffers = List.copyOf(buffers);
        }
    }

    /**
     * A buffer in the workspace.
     *
     * @param name tensor name, or the operator's function name with {@code scratch}
     * @param offset first byte in the workspace
     * @param bytes size
     * @param firstUse first step that touches it: an index into the operators; -1 for inputs, which exist before
     * @param lastUse last step that touches it; the number of steps for outputs, which exist afterwards
     * @param overlaps names of the buffers directly before and after it in some of its bytes: {@link BufferOverlaps}
     */
    public record PlannedBuffer(
            String name, long offset, long bytes, int firstUse, int lastUse, List<String> overlaps) {
        public PlannedBuffer {
            overlaps = List.copyOf(overlaps);
        }

        public PlannedBuffer overlapping(List<String> others) {
            return new PlannedBuffer(name, offset, bytes, firstUse, lastUse, others);
        }
    }

    /**
     * Which buffers of a plan follow each other in the same bytes: the earlier one holds some bytes until the later one takes them. All pairs that
     * share bytes would be as many as the square of the number of buffers; a pair that is not here shares bytes only by way of buffers between them.
     */
    public static final class BufferOverlaps {
        private final List<PlannedBuffer> buffers;
        private final List<SortedSet<Integer>> pairs;

        /** Bytes in use, by first byte: none overlap. */
        private final TreeMap<Long, Held> memory = new TreeMap<>();

        private BufferOverlaps(List<PlannedBuffer> buffers) {
            this.buffers = buffers;
            this.pairs = buffers.stream()
                    .<SortedSet<Integer>>map(buffer -> new TreeSet<>())
                    .toList();
        }

        /** Bytes up to an end that a buffer was the last to take. */
        private record Held(long end, int buffer) {}

        /**
         * For each buffer the indices of those directly before and after it in some of its bytes, ascending. Their number grows like the number
         * of buffers.
         */
        public static List<SortedSet<Integer>> of(List<PlannedBuffer> buffers) {
            BufferOverlaps overlaps = new BufferOverlaps(buffers);
            IntStream.range(0, buffers.size())
                    .boxed()
                    .sorted(Comparator.comparingInt(i -> buffers.get(i).firstUse()))
                    .forEach(overlaps::take);
            return overlaps.pairs;
        }

        private void take(int buffer) {
            long start = buffers.get(buffer).offset();
            long end = start + buffers.get(buffer).bytes();
            if (start == end) {
                return;
            }
            Map.Entry<Long, Held> before = memory.lowerEntry(start);
            if (before != null && before.getValue().end() > start) {
                memory.put(before.getKey(), new Held(start, before.getValue().buffer()));
                memory.put(start, before.getValue());
            }
            List<Long> taken = new ArrayList<>(memory.subMap(start, end).keySet());
            for (Long begin : taken) {
                Held held = memory.remove(begin);
                pairs.get(buffer).add(held.buffer());
                pairs.get(held.buffer()).add(buffer);
                if (held.end() > end) {
                    memory.put(end, held);
                }
            }
            memory.put(start, new Held(end, buffer));
        }
    }
}
