// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.mlf.ModelLibraryFormat.Options;
import io.kiln.reference.GoldenModels;
import io.kiln.target.TestTargets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Compiles every golden model for every kind of core and writes one line per file: digest and name. Two commits whose lines are equal
 * generate the same C and the same archives; {@code src/test/same-output.sh} compares them.
 */
public final class GoldenOutputs {
    /** One target per kind of core: M0, M3, M4F, M7, M55, RV32 and the host. */
    private static final List<String> TARGETS = List.of(
            TestTargets.M0,
            TestTargets.M3,
            TestTargets.M4,
            TestTargets.M7,
            TestTargets.M55,
            TestTargets.RV32,
            TestTargets.HOST);

    private GoldenOutputs() {}

    /**
     * Runs.
     *
     * @param arguments the file of digests to write; a part of a model's name, or nothing for all; a folder to keep the generated files in,
     *     or nothing
     */
    public static void main(String[] arguments) throws IOException {
        String part = arguments.length > 1 ? arguments[1] : "";
        Optional<Path> keep = arguments.length > 2 ? Optional.of(Path.of(arguments[2])) : Optional.empty();
        List<Path> models;
        try (Stream<Path> folders = Files.list(GoldenModels.folder(""))) {
            models = folders.map(folder -> folder.resolve("model.tflite"))
                    .filter(Files::isRegularFile)
                    .filter(model -> model.getParent().getFileName().toString().contains(part))
                    .sorted()
                    .toList();
        }
        List<List<String>> lines =
                models.parallelStream().map(model -> lines(model, keep)).toList();
        Files.write(Path.of(arguments[0]), lines.stream().flatMap(List::stream).toList());
    }

    private static List<String> lines(Path model, Optional<Path> keep) {
        List<String> lines = new ArrayList<>();
        for (String target : TARGETS) {
            for (Optimize optimize : Optimize.values()) {
                Io io = target.endsWith("host") ? Io.WORKSPACE : Io.CALLER;
                String core = target.substring(target.lastIndexOf('=') + 1);
                String key = model.getParent().getFileName() + "/" + core + "-"
                        + optimize.name().toLowerCase(Locale.ROOT) + "/";
                outputs(RequestDraft.of(model, target).io(io).optimize(optimize).build())
                        .forEach(output -> {
                            lines.add(digest(output.content()) + "  " + key + output.name());
                            keep.ifPresent(folder -> write(folder.resolve(key + output.name()), output.content()));
                        });
            }
        }
        return lines;
    }

    private record Output(String name, Bytes content) {}

    private static List<Output> outputs(CompileRequest request) {
        try {
            ModelLibrary library = ModelCompiler.compile(request).library();
            List<Output> outputs = new ArrayList<>();
            // Code first, in an order that stays when artifacts get other loaders.
            library.artifacts().artifacts().stream()
                    .sorted(Comparator.comparing(file -> file.kind().isNative() ? ArtifactKind.SOURCE : file.kind()))
                    .forEach(file -> outputs.add(new Output(file.fileName(), file.content())));
            Options options = Options.of(7, Optional.empty(), "0");
            outputs.add(new Output("mlf.tar", ModelLibraryFormat.write(List.of(library), options)));
            return outputs;
        } catch (KilnException e) {
            return List.of(new Output("refused", Bytes.wrap(e.getMessage().getBytes(StandardCharsets.UTF_8))));
        }
    }

    private static String digest(Bytes content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content.toArray()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static void write(Path file, Bytes content) {
        try {
            Files.createDirectories(file.getParent());
            Files.write(file, content.toArray());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
