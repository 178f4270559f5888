// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.FileFailure;
import io.kiln.base.WholeFiles;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.mlf.ModelLibraryFormat.Options;
import io.kiln.module.inspect.ArtifactInspectors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** Compiled models in the Model Library Format, by Kiln or by TVM: C, headers, and what describes them. */
public final class ModelArchive {
    /** Version of the format that holds several models. */
    private static final int VERSION = 7;

    private final List<ModelLibrary> libraries;
    private final SortedMap<String, Bytes> files;
    private final Bytes tar;

    private ModelArchive(List<ModelLibrary> libraries, SortedMap<String, Bytes> files, Bytes tar) {
        this.libraries = List.copyOf(libraries);
        this.files = files;
        this.tar = tar;
    }

    /**
     * Reads an archive. The format has no place for scales and zero points, so those of its models' inputs and outputs are 0.
     *
     * @param file a tar of version 1 to 7
     * @return its models
     * @throws KilnFailure if it is none, or firmware cannot be built from it
     */
    public static ModelArchive read(Path file) {
        return KilnFailure.told(() -> {
            SortedMap<String, Bytes> files = ModelLibraryFormat.files(file);
            List<ModelLibrary> libraries = ModelLibraryFormat.read(String.valueOf(file.getFileName()), files);
            return new ModelArchive(libraries, files, bytes(file));
        });
    }

    private static Bytes bytes(Path file) {
        try {
            return Bytes.wrap(Files.readAllBytes(file));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    static ModelArchive of(ModelLibrary library, String version) {
        List<ModelLibrary> libraries = List.of(library);
        Options options = Options.of(VERSION, Optional.empty(), version);
        return new ModelArchive(
                libraries, ModelLibraryFormat.files(libraries, options), ModelLibraryFormat.write(libraries, options));
    }

    /**
     * Its models.
     *
     * @return at least one
     */
    public List<ModelDescription> models() {
        return libraries.stream()
                .map(library -> ModelDescription.of(library.metadata()))
                .toList();
    }

    /**
     * Paths of its files.
     *
     * @return sorted, such as {@code codegen/host/src/kws_lib0.c}
     */
    public List<String> files() {
        return List.copyOf(files.keySet());
    }

    /**
     * The content of a file.
     *
     * @param path one of {@link #files}
     * @return its bytes
     * @throws IllegalArgumentException if it has no such file
     */
    public byte[] content(String path) {
        if (!files.containsKey(path)) {
            throw new IllegalArgumentException("the archive has no file " + path);
        }
        return files.get(path).toArray();
    }

    /**
     * Text about its files for people, as {@code kiln:inspect} prints it.
     *
     * @param inspector name of an inspector, such as {@code list-functions}; {@code ?} for a list of them
     * @return lines
     * @throws KilnFailure if there is none, or it says nothing of these files
     */
    public List<String> inspect(String inspector) {
        return KilnFailure.told(() -> ArtifactInspectors.installed()
                .lines(
                        libraries.stream()
                                .flatMap(library -> library.artifacts().artifacts().stream())
                                .toList(),
                        inspector));
    }

    /**
     * Writes it whole or not at all. The same models give the same bytes.
     *
     * @param file gets the tar
     * @throws KilnFailure if it cannot be written
     */
    public void writeTo(Path file) {
        KilnFailure.told(() -> WholeFiles.write(file, tar.toArray()));
    }
}
