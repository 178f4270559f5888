// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.image;

import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.base.elf.ElfFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * The files of an image, side by side: {@code <base>.elf}, {@code .bin}, {@code .hex} and {@code .map}, and {@code .uf2} for boards that take it.
 *
 * @param folder the folder of the files
 * @param base their name without extension
 * @param parts folder on the same file system, for unfinished files
 * @param uf2Family the chip's family, if its boot loader takes UF2 files
 */
public record ImageFiles(Path folder, String base, Path parts, OptionalLong uf2Family, Log log) {
    private static final String ELF = ".elf";
    private static final List<String> EXTENSIONS = List.of(".bin", ".hex", ".uf2", ".map", ELF);

    public Path file(String extension) {
        return folder.resolve(base + "." + extension);
    }

    /**
     * Writes every file under another name first, so that only renaming can still fail.
     *
     * @return digests by file name
     */
    public Map<String, String> publish(Path elf, Path map, boolean isHost) {
        Map<String, String> digests = new TreeMap<>();
        try {
            Map<String, byte[]> contents = contents(elf, map, isHost);
            Files.createDirectories(folder);
            contents.forEach((name, content) -> {
                if (name.equals(base + ELF)) {
                    WholeFiles.writeProgram(part(name), content);
                } else {
                    WholeFiles.write(part(name), content);
                }
            });
            Files.deleteIfExists(file("bin"));
            Files.deleteIfExists(file("uf2"));
            for (Map.Entry<String, byte[]> file : contents.entrySet()) {
                Files.move(
                        part(file.getKey()),
                        folder.resolve(file.getKey()),
                        StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
                digests.put(file.getKey(), Digests.sha256(file.getValue()));
            }
        } catch (IOException e) {
            throw FileFailure.of("cannot write the image", folder, e);
        } finally {
            EXTENSIONS.forEach(extension -> part(base + extension).toFile().delete());
        }
        return digests;
    }

    private Map<String, byte[]> contents(Path elf, Path map, boolean isHost) throws IOException {
        Map<String, byte[]> contents = new LinkedHashMap<>();
        if (!isHost) {
            LoadImage load = LoadImage.of(ElfFile.read(elf));
            load.binary()
                    .ifPresentOrElse(
                            bytes -> contents.put(base + ".bin", bytes),
                            () -> log.info("No flat binary: the image's memories lie too far apart"));
            contents.put(base + ".hex", load.intelHex());
            uf2Family.ifPresent(family -> contents.put(base + ".uf2", Uf2.of(load, family)));
        }
        contents.put(base + ".map", Files.isRegularFile(map) ? Files.readAllBytes(map) : new byte[0]);
        contents.put(base + ELF, Files.readAllBytes(elf));
        return contents;
    }

    private Path part(String name) {
        return parts.resolve(name + ".part");
    }

    /** The image made of existing files. */
    public Image image(Set<String> names, Measurement measurement, boolean relinked) {
        return new Image(
                file("elf"),
                Optional.of(file("bin")).filter(file -> names.contains(base + ".bin")),
                Optional.of(file("hex")).filter(file -> names.contains(base + ".hex")),
                file("map"),
                measurement,
                relinked);
    }
}
