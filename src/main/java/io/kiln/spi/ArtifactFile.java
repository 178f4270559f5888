// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * One file of a model library, as plain data. Names consist of letters, digits and {@code _ . -}; file names may also have {@code +} and
 * folders.
 *
 * @param codeGenerator name of what made it
 * @param loader what takes it: {@link #NATIVE} for C, headers and objects that are linked with the core's; the name of an {@link
 *     ArtifactLoader} for anything else
 * @param name file name, unique within a target key and code generator
 * @param content its bytes
 * @param targetKey the target that it is for: {@link #HOST}, or the code generator's name
 */
public record ArtifactFile(String codeGenerator, String loader, String name, ByteBuffer content, String targetKey) {
    /** The loader of what is linked with the core's code. */
    public static final String NATIVE = "native";

    /** The target key of the core that runs the program. */
    public static final String HOST = "host";

    /** Copies the content from the buffer's position to its limit. */
    public ArtifactFile {
        ByteBuffer copy = ByteBuffer.allocate(content.remaining());
        copy.put(content.duplicate()).flip();
        content = copy.asReadOnlyBuffer();
    }

    /**
     * A text in UTF-8.
     *
     * @param codeGenerator name of what made it
     * @param loader what takes it
     * @param name file name
     * @param text its content
     * @param targetKey the target that it is for
     * @return the file
     */
    public static ArtifactFile ofText(String codeGenerator, String loader, String name, String text, String targetKey) {
        return new ArtifactFile(
                codeGenerator, loader, name, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), targetKey);
    }

    /** The content, read-only, little-endian, positioned at 0. */
    @Override
    public ByteBuffer content() {
        return content.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * The content as UTF-8 text.
     *
     * @return the text; bytes that are none become replacement characters
     */
    public String text() {
        return StandardCharsets.UTF_8.decode(content()).toString();
    }
}
