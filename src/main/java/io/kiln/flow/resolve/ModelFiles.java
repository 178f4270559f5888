// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelLibrary.ArchiveOrigin;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.compile.Frontends;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.mlf.ModelLibraryFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Stream;

/** Determines the models of a build. */
public final class ModelFiles {
    /** The accepted kinds of model files, for messages. */
    public static final String EXPECTED = "a .tflite, .onnx or .relay file, or an archive (.tar)";

    private ModelFiles() {}

    /**
     * The given models, or the one in the project's model folder.
     *
     * @param several the list of named models; empty if none was given
     * @param single the single model given
     * @param name the name of a model that is found
     * @param inputs what is said about the inputs of a single model
     * @param folder searched for a model if none is given
     * @return the models; empty if there are none
     * @throws KilnException if both kinds are given, or if the folder holds more than one model
     */
    public static List<ModelSource> choose(
            List<ModelSource> several, Optional<ModelSource> single, String name, GivenInputs inputs, Path folder) {
        if (!several.isEmpty() && single.isPresent()) {
            throw Failure.CONFIG.exception(
                    "both kiln.model and <models> are given",
                    single.get().file().toString(),
                    "one of the two",
                    "Remove kiln.model");
        }
        if (!several.isEmpty() && !inputs.equals(GivenInputs.NONE)) {
            String parameter = inputs.parameter();
            throw Failure.CONFIG.exception(
                    "both kiln." + parameter + " and <models> are given",
                    inputs.shapes() + inputs.values() + inputs.signature(),
                    "<" + parameter + "> inside a <model>",
                    "Remove kiln." + parameter);
        }
        if (!several.isEmpty()) {
            return List.copyOf(several);
        }
        if (single.isPresent()) {
            return List.of(single.get());
        }
        List<Path> found = modelsIn(folder);
        if (found.size() > 1) {
            throw Failure.MODEL.exception(
                    "there are " + found.size() + " models: "
                            + String.join(
                                    ", ",
                                    found.stream()
                                            .map(f -> f.getFileName().toString())
                                            .toList()),
                    folder.toString(),
                    "one",
                    "Choose one with kiln.model, or put several into one image with <models>");
        }
        return found.stream()
                .map(file -> new ModelSource(file, name, inputs, "", Optional.empty(), Optional.empty()))
                .toList();
    }

    /** Whether a file has the name of a model, or of an archive of models. */
    public static boolean isModel(Path file) {
        return Stream.concat(Frontends.SUFFIXES.stream(), Stream.of(ModelArchives.SUFFIX))
                .anyMatch(suffix -> file.getFileName().toString().endsWith(suffix));
    }

    private static List<Path> modelsIn(Path folder) {
        return Files.isDirectory(folder)
                ? WholeFiles.list(folder).stream().filter(ModelFiles::isModel).toList()
                : List.of();
    }

    /** Models that are C already: archives in Model Library Format, made by TVM or by Kiln. */
    public static final class ModelArchives {
        /** Suffix of archives that are looked for in a folder. */
        public static final String SUFFIX = ".tar";

        /** Compressed suffixes, recognised only to give a useful error. */
        private static final List<String> COMPRESSED = List.of(".tar.gz", ".tgz");

        /** The default of {@code kiln.name}; it selects every model of the archive. */
        private static final String ANY_NAME = "default";

        private static final int MAGIC = 257;
        private static final int HEAD = 512;

        /** Files that models of several archives cannot each bring, because the image has one runtime: Kiln's own. */
        private static final Set<ArtifactKind> OF_THE_ARCHIVE = Set.of(ArtifactKind.RUNTIME, ArtifactKind.TEMPLATE);

        private ModelArchives() {}

        /**
         * An archive after reading.
         *
         * @param name its file name
         * @param files its files by path
         * @param version version of the format
         */
        public record Archive(String name, SortedMap<String, Bytes> files, int version, List<ModelLibrary> models) {
            public Archive {
                models = List.copyOf(models);
            }
        }

        /** Whether a file is an archive, judged by name or content. */
        public static boolean accepts(Path file) {
            String name = String.valueOf(file.getFileName());
            return name.endsWith(SUFFIX) || COMPRESSED.stream().anyMatch(name::endsWith) || isTar(file);
        }

        /** Whether a file is an archive that a build does not trust. One that another plugin has yet to write is known by its name only. */
        static boolean isStranger(Path file, TrustedArchives trusted) {
            return accepts(file)
                    && !trusted.contains(new ArchiveOrigin(
                            String.valueOf(file.getFileName()), Files.isRegularFile(file) ? Digests.sha256(file) : ""));
        }

        /**
         * Reads an archive.
         *
         * @throws KilnException with all reasons why firmware cannot be built from it
         */
        public static Archive read(Path file) {
            String name = String.valueOf(file.getFileName());
            SortedMap<String, Bytes> files = ModelLibraryFormat.files(file);
            JsonNode metadata = ModelLibraryFormat.metadata(name, files);
            ArchiveOrigin origin = new ArchiveOrigin(name, Digests.sha256(file));
            List<ModelLibrary> models = ModelLibraryFormat.read(name, files).stream()
                    .map(model -> new ModelLibrary(model.metadata(), model.artifacts(), Optional.of(origin)))
                    .toList();
            return new Archive(name, files, metadata.path("version").asInt(), models);
        }

        /**
         * The models of an archive that a build uses: the one that it names, or all of them.
         *
         * @throws KilnException if there is no such model, or the build sets an option that an archive's C cannot follow
         */
        public static List<ModelLibrary> chosen(Archive archive, ModelSource source) {
            if (!source.shapes().isEmpty()) {
                throw Failure.ARCHIVE.exception(
                        "kiln." + source.inputs().parameter() + " is given for an archive",
                        archive.name(),
                        "the shapes and inputs for which its C was generated",
                        "Remove the parameter, or export the model with others");
            }
            List<ModelLibrary> named = archive.models().stream()
                    .filter(model -> source.name().equals(ANY_NAME)
                            || model.metadata().name().equals(source.name()))
                    .map(ModelArchives::withoutRuntime)
                    .toList();
            if (named.isEmpty()) {
                List<String> names = archive.models().stream()
                        .map(ModelLibrary::metadata)
                        .map(ModelMetadata::name)
                        .toList();
                throw Failure.ARCHIVE.exception(
                        "there is no model `" + source.name() + "`",
                        archive.name(),
                        "one of " + String.join(", ", names) + ": names in an archive's C cannot be changed",
                        "Correct the model's name, or remove kiln.name");
            }
            return named;
        }

        private static ModelLibrary withoutRuntime(ModelLibrary model) {
            List<Artifact> own = model.artifacts().artifacts().stream()
                    .filter(artifact -> !OF_THE_ARCHIVE.contains(artifact.kind()))
                    .toList();
            return new ModelLibrary(model.metadata(), model.artifacts().with(own), model.origin());
        }

        private static boolean isTar(Path file) {
            if (!Files.isRegularFile(file)) {
                return false;
            }
            try (InputStream in = Files.newInputStream(file)) {
                byte[] head = in.readNBytes(HEAD);
                return head.length == HEAD
                        && new String(head, MAGIC, "ustar".length(), StandardCharsets.ISO_8859_1).equals("ustar");
            } catch (IOException e) {
                throw FileFailure.of("cannot read", file, e);
            }
        }
    }
}
