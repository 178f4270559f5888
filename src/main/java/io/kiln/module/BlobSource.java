// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import java.util.Locale;

/** The blob of a tree as C text, as TVM's {@code devc.c}: one array of 20 bytes a line. */
public final class BlobSource {
    /** The usual name of the file. */
    public static final String FILE = "devc.c";

    private static final int BYTES_A_LINE = 20;

    private BlobSource() {}

    /** Prints a blob that {@link ModuleBlob#write} made. */
    public static String of(Bytes blob) {
        StringBuilder text = new StringBuilder("""
            #ifdef _WIN32
            #define TVM_EXPORT __declspec(dllexport)
            #else
            #define TVM_EXPORT
            #endif
            #ifdef __cplusplus
            extern "C" {
            #endif
            """);
        text.append("TVM_EXPORT extern const unsigned char ")
                .append(ModuleBlob.SYMBOL)
                .append("[];\n");
        text.append("const unsigned char ")
                .append(ModuleBlob.SYMBOL)
                .append('[')
                .append(blob.size())
                .append("] = {");
        for (int i = 0; i < blob.size(); i++) {
            text.append(i % BYTES_A_LINE == 0 ? "\n  " : "");
            text.append(String.format(Locale.ROOT, "0x%02x,", blob.get(i) & 0xFF));
        }
        return text.append("\n};\n#ifdef __cplusplus\n}\n#endif\n").toString();
    }
}
