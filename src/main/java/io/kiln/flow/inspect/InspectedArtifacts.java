// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactSet;
import io.kiln.base.Bytes;
import io.kiln.base.FileFailure;
import io.kiln.base.elf.ElfFile;
import io.kiln.compile.Frontends;
import io.kiln.compile.ReadOptions;
import io.kiln.flow.resolve.ModelArchives;
import io.kiln.frontend.InputShapes;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.module.ModuleLoaders;
import io.kiln.module.ModuleNode;
import io.kiln.module.SharedLibrary;
import io.kiln.partition.ethosu.EthosUCodegen;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The artifacts of a file: those of an archive, a library, an exported set or artifact; any other file is one itself. */
final class InspectedArtifacts {
    /** Loaders by suffix; other files are payloads. */
    private static final Map<String, String> LOADERS = Map.of(
            "c", "native", "h", "native", "o", "native", "a", "native", "params", "params", "relay", "relay", "graph",
            "graph");

    private static final int MAGIC = 8;

    private static final String TFLITE = ".tflite";

    private InspectedArtifacts() {}

    static List<Artifact> of(Path file) {
        String name = String.valueOf(file.getFileName());
        if (ModelArchives.accepts(file)) {
            List<Artifact> artifacts = new ArrayList<>();
            metadata(file, name).ifPresent(artifacts::add);
            ModelLibraryFormat.read(file)
                    .forEach(model -> artifacts.addAll(model.artifacts().artifacts()));
            return artifacts.stream().distinct().toList();
        }
        if (name.endsWith(TFLITE) && isVelas(read(file))) {
            return NpuParts.streams(Frontends.read(file, "default", InputShapes.NONE, ReadOptions.DEFAULT));
        }
        if (ElfFile.isElf(file)) {
            ElfFile elf = ElfFile.read(file);
            return SharedLibrary.isLibrary(elf) ? library(file, elf, name) : List.of(single(name, "o", read(file)));
        }
        return exported(file)
                .map(ArtifactSet::artifacts)
                .orElseGet(() -> List.of(single(name, name.substring(name.lastIndexOf('.') + 1), read(file))));
    }

    /** Whether a model names the operator of Vela's files. */
    private static boolean isVelas(Bytes content) {
        return new String(content.toArray(), StandardCharsets.ISO_8859_1).contains(EthosUCodegen.NAME);
    }

    /** The artifacts of an exported set or artifact; empty for other files. */
    private static Optional<ArtifactSet> exported(Path file) {
        Bytes content = read(file);
        String name = String.valueOf(file.getFileName());
        return switch (magic(content)) {
            case "KILNART1" -> Optional.of(alone(Artifact.load(content, name)));
            case "KILNSET1" -> Optional.of(ArtifactSet.load(content, name));
            default -> Optional.empty();
        };
    }

    /** An artifact as a set of its own; it does not say what its target is. */
    private static ArtifactSet alone(Artifact artifact) {
        return new ArtifactSet(List.of(artifact), new TreeMap<>(Map.of(artifact.targetKey(), "")));
    }

    /** What an exported set or artifact holds: targets, and each file with its loader and its code generator; empty for other files. */
    static Optional<List<String>> listed(Path file) {
        return exported(file).map(set -> {
            List<String> lines = new ArrayList<>();
            lines.add("Artifacts of " + file + ": " + set.artifacts().size());
            set.targets().entrySet().stream()
                    .filter(target -> !target.getValue().isEmpty())
                    .forEach(target -> lines.add("  target " + target.getKey() + ": " + target.getValue()));
            set.artifacts()
                    .forEach(artifact -> lines.add("  " + artifact.targetKey() + "/" + artifact.loader() + "/"
                            + artifact.fileName() + ": " + artifact.content().size() + " bytes of code generator "
                            + artifact.codegenId()));
            return lines;
        });
    }

    /** The metadata of an archive's models. */
    private static Optional<Artifact> metadata(Path archive, String name) {
        SortedMap<String, Bytes> files = ModelLibraryFormat.files(archive);
        return Optional.ofNullable(files.get(ArchivePaths.METADATA))
                .map(content -> new Artifact(named(name), "metadata", ArchivePaths.METADATA, content, Artifact.HOST));
    }

    /** The library as a file, and the artifacts that it carries, or the files of its modules. */
    private static List<Artifact> library(Path file, ElfFile elf, String name) {
        SharedLibrary library = SharedLibrary.read(elf, name, ModuleLoaders.installed());
        List<Artifact> artifacts = new ArrayList<>(List.of(single(name, "so", read(file))));
        artifacts.addAll(library.artifacts().artifacts());
        List<ModuleNode> modules = library.tree().modules();
        for (int i = 0; i < modules.size(); i++) {
            String prefix = i + "-" + named(modules.get(i).typeKey()) + "-";
            modules.get(i).payload().files().forEach((part, content) -> {
                String suffix = part.substring(part.lastIndexOf('.') + 1);
                artifacts.add(single(prefix + part, suffix, content));
            });
        }
        return artifacts;
    }

    private static Artifact single(String name, String suffix, Bytes content) {
        String loader = LOADERS.getOrDefault(suffix, "file");
        String file = named(name);
        return new Artifact(
                "file",
                loader,
                file.endsWith("." + suffix) ? file : file + "." + named(suffix),
                content,
                Artifact.HOST);
    }

    private static String named(String text) {
        String name = text.replaceAll("[^A-Za-z0-9_.+-]", "_");
        return name.matches("\\.*") ? "file" : name.substring(0, Math.min(150, name.length()));
    }

    private static String magic(Bytes content) {
        byte[] head = new byte[Math.min(MAGIC, content.size())];
        for (int i = 0; i < head.length; i++) {
            head[i] = content.get(i);
        }
        return new String(head, StandardCharsets.ISO_8859_1);
    }

    private static Bytes read(Path file) {
        try {
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }
}
