// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.base.Bytes;
import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.base.WholeFiles;
import io.kiln.toolchain.compiler.ArtifactFetcher;
import io.kiln.toolchain.compiler.ToolchainEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * CMSIS-NN's sources as {@code kiln.cmsisNn} names them: a folder, or a Maven artifact that is fetched, and unpacked once into a folder that
 * all builds of a user share.
 */
public final class CmsisNnArtifact {
    /** {@code group:artifact:version}, then optional extension and classifier. */
    private static final Pattern COORDINATES = Pattern.compile("[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+){2,4}");

    private static final int GROUP_ARTIFACT_VERSION = 3;
    private static final int WITH_EXTENSION = 4;

    private CmsisNnArtifact() {}

    /**
     * The folder with {@code Include} and {@code Source}.
     *
     * @param text a folder, or {@code group:artifact:version[:extension[:classifier]]}; the extension is {@code zip} unless stated
     * @param base what a relative folder is relative to
     * @param environment where artifacts come from, and where they are unpacked
     * @throws io.kiln.base.KilnException if the artifact cannot be fetched, or is not an archive of CMSIS-NN's sources
     */
    public static Path folder(String text, Path base, ToolchainEnvironment environment) {
        String name = text.strip();
        if (!COORDINATES.matcher(name).matches()) {
            return base.resolve(name);
        }
        String[] words = name.split(":", -1);
        ArtifactFetcher fetcher = environment.fetcher();
        Path archive = fetcher.fetch(
                words[0],
                words[1],
                words[2],
                words.length > WITH_EXTENSION ? words[4] : "",
                words.length > GROUP_ARTIFACT_VERSION ? words[3] : "zip");
        return unpacked(archive, environment.home().resolve("cmsis-nn"));
    }

    /** Unpacks an archive unless it is there already, whole or not at all. The folder is named by the archive's content. */
    private static Path unpacked(Path archive, Path home) {
        try {
            Path folder = home.resolve(Digests.sha256(archive));
            if (Files.isDirectory(folder)) {
                return folder;
            }
            SortedMap<String, Bytes> files = CmsisNnArchive.read(archive);
            // Not a temporary folder of the system, which only its owner may read.
            Path fresh = home.resolve(".unpacking" + UUID.randomUUID());
            files.forEach((name, content) -> WholeFiles.write(fresh.resolve(name), content.toArray()));
            return moved(fresh, folder);
        } catch (IOException e) {
            throw FileFailure.of("cannot unpack", archive, e);
        }
    }

    /** Moves an unpacked archive to its place. Another build may have unpacked the same archive meanwhile: its folder is as good. */
    private static Path moved(Path fresh, Path folder) throws IOException {
        try {
            return Files.move(fresh, folder);
        } catch (IOException e) {
            if (Files.isDirectory(folder)) {
                return folder;
            }
            throw e;
        }
    }
}
