// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;

/**
 * One file of a model library, as plain data (TVM's RFC of artifacts and the explicit load process). Names consist of letters, digits and
 * {@code _ . -}; file names may also have {@code +} and folders.
 *
 * @param codegenId which code generator made it, such as {@code c}, or {@link #FOREIGN}
 * @param loader which loader takes it: {@link #NATIVE}, {@code metadata}, {@code runtime}, {@code relay}, {@code params}, {@code template},
 *     {@code graph}; any other name is a payload of a device
 * @param fileName name relative to its kind's folder, such as {@code default_lib1.c}; unique within a target key and code generator
 * @param content its bytes
 * @param targetKey the short name of the target for which it was made, such as {@link #HOST}; several keys may have the same target string
 */
public record Artifact(String codegenId, String loader, String fileName, Bytes content, String targetKey)
        implements BuildOutput {
    /** The {@link #codegenId} of code from an archive; that of an archive's other files begins with it. */
    public static final String FOREIGN = "mlf";

    /** The target key of the core that runs the program. */
    public static final String HOST = "host";

    /** The loader of what is linked with the host core: C, headers, objects. */
    public static final String NATIVE = "native";

    /** Another name of {@link #NATIVE}, which is read but not written. */
    static final String DSO = "dso";

    /**
     * Checks the names.
     *
     * @throws KilnException with all names that are wrong
     */
    public Artifact {
        if (!(isName(codegenId) && isName(loader) && isName(targetKey) && isFileName(fileName))) {
            throw wrongNames(codegenId, loader, fileName, targetKey);
        }
    }

    private static KilnException wrongNames(String codegenId, String loader, String fileName, String targetKey) {
        Problems problems = new Problems(Failure.ARCHIVE);
        String where = "artifact `" + fileName + "` of code generator `" + codegenId + "`";
        check(codegenId, "code generator", where, problems);
        check(loader, "loader", where, problems);
        check(targetKey, "target key", where, problems);
        if (!isFileName(fileName)) {
            problems.add(
                    "`" + fileName + "` cannot be the name of an artifact's file",
                    where,
                    "letters, digits and _ . + -, in folders separated by /, none of which is only dots");
        }
        return new KilnException(problems.list());
    }

    /** An artifact of the host core. */
    public static Artifact of(String codegenId, ArtifactKind kind, String fileName, Bytes content) {
        Artifact artifact = new Artifact(codegenId, kind.loader(), fileName, content, HOST);
        if (artifact.kind() != kind) {
            throw Failure.ARCHIVE.exception(
                    "the file's suffix makes it a " + artifact.kind() + ", not a " + kind,
                    "artifact `" + fileName + "` of code generator `" + codegenId + "`");
        }
        return artifact;
    }

    /** A text artifact of the host core, in UTF-8. */
    public static Artifact ofText(String codegenId, ArtifactKind kind, String fileName, String text) {
        return of(codegenId, kind, fileName, Bytes.ofText(text));
    }

    /** The kind of file, which follows from the loader and the file's suffix. */
    public ArtifactKind kind() {
        return ArtifactKind.of(loader, fileName);
    }

    /** The same file for another target of the build. */
    public Artifact withTargetKey(String key) {
        return new Artifact(codegenId, loader, fileName, content, key);
    }

    /** The same file with another content. */
    public Artifact withContent(Bytes other) {
        return new Artifact(codegenId, loader, fileName, other, targetKey);
    }

    /** Whether it came from an archive rather than from Kiln's own compiler. */
    public boolean isForeign() {
        return codegenId.equals(FOREIGN) || codegenId.startsWith(FOREIGN + "-");
    }

    /** The content as UTF-8 text. */
    public String text() {
        return content.text();
    }

    /** The artifact as bytes: the magic {@code KILNART1}, its fields, a checksum. The same artifact gives the same bytes. */
    public Bytes export() {
        return ArtifactBlob.export(this);
    }

    /**
     * Reads what {@link #export} wrote.
     *
     * @param name the file's name, for messages
     * @throws KilnException with the offset of what is wrong
     */
    public static Artifact load(Bytes blob, String name) {
        return ArtifactBlob.load(blob, name);
    }

    static void check(String name, String what, String where, Problems problems) {
        if (!isName(name)) {
            problems.add(
                    "`" + name + "` cannot be the name of a " + what,
                    where,
                    "1 to 200 letters, digits and _ . -, not only dots");
        }
    }

    private static final int MOST_CHARACTERS = 200;
    private static final int MOST_SEGMENTS = 41;

    /** Whether it is 1 to 200 letters, digits and {@code _ . -}, not only dots. */
    private static boolean isName(String name) {
        return isSegment(name, 0, name.length(), false);
    }

    /** Whether it is 1 to 41 such names, which may also have {@code +}, with {@code /} between them. */
    private static boolean isFileName(String name) {
        int start = 0;
        for (int segments = 1; segments <= MOST_SEGMENTS; segments++) {
            int end = name.indexOf('/', start);
            if (end < 0) {
                return isSegment(name, start, name.length(), true);
            }
            if (!isSegment(name, start, end, true)) {
                return false;
            }
            start = end + 1;
        }
        return false;
    }

    private static boolean isSegment(String name, int start, int end, boolean isFile) {
        boolean isDots = true;
        for (int i = start; i < end; i++) {
            char c = name.charAt(i);
            boolean isAllowed = isBetween('A', c, 'Z')
                    || isBetween('a', c, 'z')
                    || isBetween('0', c, '9')
                    || c == '_'
                    || c == '.'
                    || c == '-'
                    || (isFile && c == '+');
            if (!isAllowed) {
                return false;
            }
            isDots &= c == '.';
        }
        return end > start && end - start <= MOST_CHARACTERS && !isDots;
    }

    private static boolean isBetween(char first, char c, char last) {
        return first <= c && c <= last;
    }
}
