// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ArtifactSet;
import io.kiln.artifact.GraphFile;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.TestElf;
import io.kiln.firmware.image.ImageFiles.LoadImage;
import io.kiln.firmware.image.Measurement.ImageMeasurer;
import io.kiln.frontend.CustomOperators;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.TfliteRounding;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.frontend.tflite.single.SingleOperatorTest;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.module.ModuleBlob;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleTree;
import io.kiln.reference.GoldenModels;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestDescriptors;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/** What reads files that come from elsewhere; seeds are files that are right. */
enum Reader {
    TFLITE {
        @Override
        List<Bytes> seeds() {
            return Stream.concat(
                            SingleOperatorTest.operators().map(operator -> operator.model(0)),
                            GoldenModels.small(MOST_BYTES))
                    .toList();
        }

        @Override
        void read(Bytes file, Path folder) {
            TfliteRounding rounding = file.hashCode() % 2 == 0 ? TfliteRounding.MICRO : TfliteRounding.LITE;
            Verifier.verify(TfliteFrontend.read(
                    file, "fuzzed.tflite", "fuzzed", InputShapes.NONE, CustomOperators.NONE, rounding));
        }
    },
    ONNX {
        @Override
        List<Bytes> seeds() {
            return OnnxSeeds.all();
        }

        @Override
        void read(Bytes file, Path folder) {
            WholeFiles.write(folder.resolve("fuzzed.onnx"), file.toArray());
            Verifier.verify(OnnxFrontend.read(folder.resolve("fuzzed.onnx"), "fuzzed", InputShapes.NONE));
        }
    },
    RELAY {
        @Override
        List<Bytes> seeds() {
            Stream<Function> forests =
                    OnnxSeeds.forests().map(file -> OnnxFrontend.read(file, "seed.onnx", "fuzzed", InputShapes.NONE));
            return Stream.concat(functions().stream(), forests)
                    .filter(Reader::computesFromInputs)
                    .map(f -> Bytes.ofText(RelayPrinter.astext(f)))
                    .toList();
        }

        @Override
        void read(Bytes file, Path folder) {
            Verifier.verify(RelayFrontend.read(file, "fuzzed.relay", Optional.empty(), "", "fuzzed"));
        }
    },
    PARAMS {
        @Override
        List<Bytes> seeds() {
            NamedTensor weights = new NamedTensor("w", DType.INT8, List.of(2, 3), Bytes.wrap(new byte[6]));
            NamedTensor scale = new NamedTensor("scale", DType.FLOAT32, List.of(), Bytes.wrap(new byte[4]));
            return List.of(ParameterFile.write(List.of(weights, scale)), ParameterFile.write(List.of()));
        }

        @Override
        void read(Bytes file, Path folder) {
            ParameterFile.read(file, "fuzzed.params");
        }
    },
    GRAPH {
        @Override
        List<Bytes> seeds() {
            return List.of(Bytes.ofText(GraphSeeds.JSON), Bytes.ofText(GraphSeeds.JSON.replaceAll("\\s", "")));
        }

        @Override
        void read(Bytes file, Path folder) {
            GraphFile graph = GraphFile.read(file, "fuzzed.graph");
            graph.storages();
            graph.functions();
        }
    },
    TOOLCHAIN {
        @Override
        List<Bytes> seeds() {
            return TestDescriptors.builtIn();
        }

        @Override
        void read(Bytes file, Path folder) {
            TestDescriptors.read(file);
        }
    },
    ARCHIVE {
        @Override
        List<Bytes> seeds() {
            return List.of(Archives.whole(5), Archives.whole(7));
        }

        @Override
        void read(Bytes file, Path folder) {
            Path tar = folder.resolve("fuzzed.tar");
            WholeFiles.write(tar, file.toArray());
            ModelLibraryFormat.read(tar);
        }
    },
    METADATA {
        @Override
        List<Bytes> seeds() {
            return List.of(Archives.metadata(5), Archives.metadata(7));
        }

        @Override
        void read(Bytes file, Path folder) {
            Path tar = folder.resolve("fuzzed.tar");
            WholeFiles.write(tar, Archives.with(file).toArray());
            ModelLibraryFormat.read(tar);
        }
    },
    BOARD {
        @Override
        List<Bytes> seeds() {
            return BuiltIn.BOARDS.ids().stream()
                    .map(id ->
                            BuiltIn.BOARDS.ownFiles(id).get("board.yaml").text().replace("id: " + id, "id: fuzzed"))
                    .map(Bytes::ofText)
                    .toList();
        }

        @Override
        void read(Bytes file, Path folder) {
            Path board = folder.resolve("fuzzed");
            if (!Files.exists(board)) {
                BuiltIn.BOARDS.ids().stream()
                        .flatMap(id -> BuiltIn.BOARDS.ownFiles(id).entrySet().stream())
                        .forEach(f -> WholeFiles.write(
                                board.resolve(f.getKey()), f.getValue().toArray()));
            }
            WholeFiles.write(board.resolve("board.yaml"), file.toArray());
            BuiltIn.BOARDS.with(folder).find("fuzzed");
        }
    },
    BOARD_ARCHIVE {
        @Override
        List<Bytes> seeds() {
            return List.of(
                    BoardZips.of(BuiltIn.BOARDS, List.of("microbit")),
                    BoardZips.of(BuiltIn.BOARDS, BuiltIn.BOARDS.ids()));
        }

        @Override
        void read(Bytes file, Path folder) {
            Path zip = folder.resolve("fuzzed.zip");
            WholeFiles.write(zip, file.toArray());
            Boards.builtIn().with(zip, "com.acme:boards:1", Set.of());
        }
    },
    ARTIFACTS {
        @Override
        List<Bytes> seeds() {
            Artifact source = Artifact.ofText("c", ArtifactKind.SOURCE, "a/x.c", "int x;\n");
            Artifact stream = new Artifact("npu", "npu", "x.bin", Bytes.ofText("stream"), "npu");
            return List.of(
                    ArtifactSet.of(List.of(source, stream), Map.of("host", "c", "npu", "npu"))
                            .export(),
                    ArtifactSet.of(List.of(), Map.of()).export());
        }

        @Override
        void read(Bytes file, Path folder) {
            ArtifactSet read = ArtifactSet.load(sealed(file), "fuzzed.bin");
            assertThat(ArtifactSet.load(read.export(), "again.bin")).isEqualTo(read);
        }

        /** Else nearly every spoiled file is refused for its checksum. */
        private Bytes sealed(Bytes file) {
            byte[] bytes = file.toArray();
            if (bytes.length >= Integer.BYTES) {
                CRC32 crc = new CRC32();
                crc.update(bytes, 0, bytes.length - Integer.BYTES);
                ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.length - Integer.BYTES, (int)
                        crc.getValue());
            }
            return Bytes.wrap(bytes);
        }
    },
    MODULES {
        @Override
        List<Bytes> seeds() {
            return ModuleSeeds.all();
        }

        @Override
        void read(Bytes file, Path folder) {
            ModuleTree tree = ModuleBlob.read(file, List.of(), ModuleLoaders.installed(), "fuzzed.bin");
            assertThat(ModuleBlob.write(tree)).isEqualTo(file);
        }
    },
    ELF {
        @Override
        List<Bytes> seeds() {
            return Stream.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)
                    .flatMap(order -> Stream.of(TestElf.bytes(false, order), TestElf.bytes(true, order)))
                    .map(Bytes::wrap)
                    .toList();
        }

        @Override
        void read(Bytes file, Path folder) {
            Path image = folder.resolve("fuzzed.elf");
            WholeFiles.write(image, file.toArray());
            ElfFile elf = ElfFile.read(image);
            ImageMeasurer.measure(elf, BuiltIn.MEASURED);
            LoadImage load = LoadImage.of(elf);
            load.binary();
            load.intelHex();
        }
    };

    /** Of a seed: larger ones are spoiled where nothing depends on it. */
    private static final int MOST_BYTES = 4096;

    /** Read only where a reader needs them: in a process that fuzzes, every class costs its instrumentation. */
    private static final class BuiltIn {
        private static final Boards BOARDS = Boards.builtIn();
        private static final Board MEASURED = BOARDS.find("mps2-an386");
    }

    /** Files to start from; the same each time. */
    abstract List<Bytes> seeds();

    /**
     * Reads a file.
     *
     * @param folder where it may be put, for readers that take paths
     * @throws io.kiln.base.KilnException if it is not right
     */
    abstract void read(Bytes file, Path folder);

    /** Relay text whose result is a constant is refused. */
    private static boolean computesFromInputs(Function function) {
        return function.bindings().stream().flatMap(b -> b.args().stream()).anyMatch(Arg.Ref.class::isInstance);
    }

    /** Small models, imported. */
    static List<Function> functions() {
        return TFLITE.seeds().stream()
                .map(model -> TfliteFrontend.read(model, "seed.tflite", "fuzzed"))
                .toList();
    }
}
