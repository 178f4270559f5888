// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.ir.Function;
import io.kiln.mlf.ModelLibraryFormat;
import io.kiln.mlf.ModelLibraryFormat.Options;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/** Small archives in the Model Library Format. */
final class Archives {
    private static final String METADATA = "./metadata.json";

    private static final Bytes WHOLE = whole(5);

    private Archives() {}

    /** An archive of a version, 5 or 7. */
    static Bytes whole(int version) {
        Function function = Reader.functions().get(0);
        CompileRequest request = RequestDraft.of(Path.of("fuzzed.tflite"), "c -keys=cpu")
                .name(function.name())
                .build();
        ModelLibrary library = ModelCompiler.compile(request, function).library();
        return ModelLibraryFormat.write(List.of(library), Options.of(version, Optional.empty(), "0.1.0"));
    }

    /** The file in an archive that says what the others are. */
    static Bytes metadata(int version) {
        return members(whole(version)).get(METADATA);
    }

    /** An archive of version 5 with another such file. */
    static Bytes with(Bytes metadata) {
        Map<String, Bytes> members = members(WHOLE);
        members.put(METADATA, metadata);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out, StandardCharsets.UTF_8.name())) {
            for (Map.Entry<String, Bytes> member : members.entrySet()) {
                TarArchiveEntry entry = new TarArchiveEntry(member.getKey());
                entry.setSize(member.getValue().size());
                tar.putArchiveEntry(entry);
                tar.write(member.getValue().toArray());
                tar.closeArchiveEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Bytes.wrap(out.toByteArray());
    }

    private static Map<String, Bytes> members(Bytes archive) {
        Map<String, Bytes> members = new TreeMap<>();
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new ByteArrayInputStream(archive.toArray()), StandardCharsets.UTF_8.name())) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                if (!entry.isDirectory()) {
                    members.put(entry.getName(), Bytes.wrap(tar.readAllBytes()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return members;
    }
}
