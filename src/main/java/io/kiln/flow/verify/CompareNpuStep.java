// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.compile.ReadOptions;
import io.kiln.device.emulator.Emulator;
import io.kiln.flow.build.GenerateStep;
import io.kiln.flow.build.RunnableImage;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.resolve.ResolvedBuild.NpuFit;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.verify.RoundedModel.OriginalModel;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/**
 * Runs an image with parts for an NPU, whose model says what each operation leaves, and names the first one that leaves something else than the model
 * as it was before Vela.
 */
public final class CompareNpuStep {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    /** The variable of the image that makes operations say what they leave. */
    private static final String LOGS = "kiln_npu_logs";

    private final Log log;
    private final ResolvedBuild build;
    private final NpuOperationCheck npu = new NpuOperationCheck();

    public CompareNpuStep(Log log, ResolvedBuild build) {
        this.log = log;
        this.build = build;
    }

    /** Whether a model of the build has parts for an NPU: its image is not driven operator by operator. */
    public static boolean concerns(ResolvedBuild build) {
        return NpuFit.hasParts(build);
    }

    /**
     * Compares all models with seeded random inputs.
     *
     * @throws KilnException if an answer differs, with the operation; or if a model's original is not known
     */
    public void run() {
        RunnableImage image = RunnableImage.withDefaultApplication(log, build);
        compare(
                image.file(),
                new Emulator(
                        image.board(),
                        LIMIT,
                        Optional.of(build.spec().layout().reports().resolve("compare-layers.log")),
                        build.spec().semihosting()));
    }

    /** Compares what an image answers. */
    void compare(Path image, Emulator emulator) {
        Map<String, ModelSource> sources =
                build.spec().models().stream().collect(Collectors.toMap(ModelSource::name, model -> model));
        List<ModelMetadata> models = GenerateStep.store(build.spec().layout()).metadata();
        emulator.talk(saying(image), Protocols.of(build, LIMIT), new Lines(), session -> {
            for (int i = 0; i < models.size(); i++) {
                ModelMetadata model = models.get(i);
                List<Bytes> inputs = TestCases.random(1, build.spec().verify().seed(), model.inputs())
                        .get(0)
                        .inputs();
                npu.clear();
                compare(
                        sources.get(model.name()),
                        inputs,
                        session.run(i, session.models().get(i), inputs));
            }
            return session;
        });
    }

    /** Text of the console, of which whole lines are looked at. */
    private final class Lines implements Consumer<String> {
        private final StringBuilder line = new StringBuilder();

        @Override
        public void accept(String text) {
            for (int i = 0; i < text.length(); i++) {
                if (text.charAt(i) == '\n') {
                    log.debug(line.toString());
                    npu.accept(line.toString());
                    line.setLength(0);
                } else if (text.charAt(i) != '\r') {
                    line.append(text.charAt(i));
                }
            }
        }
    }

    private void compare(ModelSource source, List<Bytes> inputs, List<Bytes> answer) {
        Function read = RoundedModel.of(reading(), source).function();
        if (!OriginalModel.isMissing(read)) {
            return;
        }
        Path file = OriginalModel.file(source, build.spec().verify())
                .orElseThrow(() -> Failure.CONFIG.exception(
                        "only an NPU knows what operations of model `" + source.name() + "` compute",
                        source.file().toString(),
                        "the model as it was before Vela",
                        "Name it with kiln.npu.original"));
        Function original = OriginalModel.of(read, file, reading(), source).function();
        if (!answer.equals(Interpreter.run(original, inputs))) {
            throw Failure.VERIFY.exception(
                    npu.firstWrong(original, Interpreter.runAll(original, inputs))
                            .map(wrong -> "the first wrong operation of the NPU: " + wrong)
                            .orElse("the answer is not the original's, although all operations of the NPU leave its"
                                    + " layers"),
                    source.file().toString(),
                    "what " + file.getFileName() + " computes",
                    "kiln:inspect shows the operation and what it reads; if nothing has changed the file since Vela"
                            + " wrote it, the mistake is Vela's or Kiln's");
        }
        log.info("Model " + source.name() + ": what " + npu.count() + " operations of the NPU lead to is the answer of "
                + file.getFileName());
    }

    private ReadOptions reading() {
        return build.spec().options(build.board()).reading();
    }

    /** A copy of an image whose operations say what they leave. */
    private Path saying(Path image) {
        ElfFile elf = ElfFile.read(image);
        ElfFile.Symbol variable = elf.symbols().stream()
                .filter(symbol -> symbol.name().equals(LOGS))
                .findFirst()
                .orElseThrow(() -> Failure.BOARD.exception(
                        "the image has no model of the NPU, whose operations could be looked at",
                        "board " + build.board().id(),
                        "virtual-corstone-300, or a board with it as a stand-in",
                        "Choose it with kiln.board, or add emulator: {standIn: virtual-corstone-300} to the board"));
        ElfFile.Section section = elf.sections().get(variable.section());
        byte[] bytes = WholeFiles.read(image).toArray();
        bytes[(int) (section.offset() + variable.value() - section.address())] = 1;
        Path copy = build.spec().layout().reports().resolve("compare-layers.elf");
        WholeFiles.write(copy, bytes);
        return copy;
    }

    /**
     * Compares what each operation of the model of the NPU leaves with the layers of the model as it was before Vela. An operation computes a
     * layer, some of its rows or channels, or a step that no layer shows; so the first one that leaves something else than a layer of its shape is found
     * among those whose values no layer has.
     */
    private static final class NpuOperationCheck implements Consumer<String> {
        private static final Pattern LINE = Pattern.compile(
                "^npu ((\\d+) [a-z]+ .* (\\d{1,9})x(\\d{1,9})x(\\d{1,9}) ([su])(8|16|32)) crc32" + " ([0-9a-f]{8})$");

        /** Bytes of layers that are looked at for one model; rows and channels of large ones take many looks. */
        private static final long MOST_BYTES = 1L << 30;

        private final List<Operation> operations = new ArrayList<>();
        private int parts;
        private long looked;

        /** An operation: its part of the model and its text, the shape of what it leaves, and the CRC-32 of that. */
        private record Operation(int part, String text, int rows, int columns, int channels, String type, long crc) {
            long bytes() {
                return (long) rows * columns * channels * size();
            }

            int size() {
                return Integer.parseInt(type.substring(1)) / Byte.SIZE;
            }
        }

        /** A layer of the original: values in the order H, W, C. */
        private static final class Layer {
            private final String name;
            private final TensorType type;
            private final byte[] values;

            Layer(String name, TensorType type, byte[] values) {
                this.name = name;
                this.type = type;
                this.values = values;
            }

            int channels() {
                int rank = type.shape().rank();
                return rank == 0 ? 1 : type.shape().dims().get(rank - 1);
            }

            int columns() {
                int rank = type.shape().rank();
                return rank < 3 ? 1 : type.shape().dims().get(rank - 2);
            }

            boolean isOf(String npuType) {
                String own = type.dtype().text();
                return own.equals(npuType.replace("s", "int").replace("u", "uint"));
            }
        }

        /** Takes a line of the console; others than those of operations are left out. */
        @Override
        public void accept(String line) {
            Matcher found = LINE.matcher(line);
            if (found.matches()) {
                parts += found.group(2).equals("1") ? 1 : 0;
                operations.add(new Operation(
                        parts,
                        found.group(1),
                        Integer.parseInt(found.group(3)),
                        Integer.parseInt(found.group(4)),
                        Integer.parseInt(found.group(5)),
                        found.group(6) + found.group(7),
                        Long.parseLong(found.group(8), 16)));
            }
        }

        /** Forgets the operations of the model before. */
        void clear() {
            operations.clear();
            parts = 0;
            looked = 0;
        }

        int count() {
            return operations.size();
        }

        /**
         * The first operation that leaves other values than the original.
         *
         * @param values of the original's bindings, by id
         * @return its text with the layer of its shape; empty if each one that could be a layer is one
         */
        Optional<String> firstWrong(Function original, Map<Integer, Bytes> values) {
            List<Layer> layers = original.bindings().stream()
                    .filter(binding -> values.containsKey(binding.id()))
                    .map(binding -> layer(binding, values.get(binding.id())))
                    .toList();
            Set<Layer> found = new HashSet<>();
            List<Operation> unknown = new ArrayList<>();
            int afterLast = 0;
            for (Operation operation : operations) {
                List<Layer> same = layers.stream()
                        .filter(layer -> leaves(operation, layer))
                        .toList();
                found.addAll(same);
                if (same.isEmpty()) {
                    unknown.add(operation);
                } else {
                    afterLast = unknown.size();
                }
            }
            for (Operation operation : unknown) {
                Optional<Layer> missing = layers.stream()
                        .filter(layer -> !found.contains(layer) && couldBe(operation, layer))
                        .min(Comparator.comparingInt(layer -> layer.values.length == operation.bytes() ? 0 : 1));
                if (missing.isPresent()) {
                    return Optional.of(text(operation) + ", whose values are not those of layer " + missing.get().name);
                }
            }
            return unknown.subList(afterLast, unknown.size()).stream()
                    .findFirst()
                    .map(operation -> text(operation) + ", the first behind those that leave layers");
        }

        private static String text(Operation operation) {
            return "operation `" + operation.text + "` of part " + operation.part;
        }

        private static Layer layer(Binding binding, Bytes values) {
            return new Layer(binding.origin().text(), binding.type(), values.toArray());
        }

        /** Whether an operation could compute the layer, or rows and channels of it. */
        private static boolean couldBe(Operation operation, Layer layer) {
            boolean isWhole = layer.values.length == operation.bytes();
            boolean isPart = layer.values.length > operation.bytes()
                    && layer.columns() == operation.columns
                    && layer.channels() >= operation.channels;
            return layer.isOf(operation.type) && (isWhole || isPart);
        }

        private boolean leaves(Operation operation, Layer layer) {
            if (!couldBe(operation, layer)) {
                return false;
            }
            if (layer.values.length == operation.bytes()) {
                return crc(layer.values, 0, layer.values.length, layer.values.length, 1) == operation.crc;
            }
            int row = layer.columns() * layer.channels() * operation.size();
            int width = operation.channels * operation.size();
            int pixels = operation.rows * operation.columns;
            for (int y = 0; y + operation.rows <= layer.values.length / row; y++) {
                for (int c = 0; c + operation.channels <= layer.channels(); c += Byte.SIZE) {
                    int first = y * row + c * operation.size();
                    if (looked < MOST_BYTES
                            && crc(layer.values, first, width, layer.channels() * operation.size(), pixels)
                                    == operation.crc) {
                        return true;
                    }
                }
            }
            return false;
        }

        /** The CRC-32 of runs of bytes. */
        private long crc(byte[] values, int first, int width, int stride, int count) {
            CRC32 crc = new CRC32();
            for (int i = 0; i < count; i++) {
                crc.update(values, first + i * stride, width);
            }
            looked += (long) width * count;
            return crc.getValue();
        }
    }
}
