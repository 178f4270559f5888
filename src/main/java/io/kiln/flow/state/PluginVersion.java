// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.Digests;
import io.kiln.base.Extensions;
import io.kiln.base.incremental.Fingerprint;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version of Kiln: when it changes, everything that it made is out of date. */
public final class PluginVersion {
    private static final int DIGEST_CHARACTERS = 12;

    private PluginVersion() {}

    /** Version and digest of the code: it is built again without a new version, and then makes other things. */
    public static String text() {
        return released() + " " + Build.DIGEST;
    }

    /** Holds the digest of the code, read once: the code that runs does not change while it runs. */
    private static final class Build {
        static final String DIGEST = Digests.sha256(Fingerprint.of("code")
                        .value("", Extensions.place(PluginVersion.class))
                        .parts()
                        .toString())
                .substring(0, DIGEST_CHARACTERS);
    }

    /** The version alone, as stated in archives. */
    public static String released() {
        Properties properties = new Properties();
        try (InputStream in = PluginVersion.class.getResourceAsStream("/kiln.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException("kiln.properties of this jar cannot be read", e);
        }
        return properties.getProperty("version");
    }
}
