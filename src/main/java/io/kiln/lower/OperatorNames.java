// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import io.kiln.base.Digests;
import java.util.HashMap;
import java.util.Map;

/**
 * C names of operator functions as in microTVM: {@code tvmgen_<module>_fused_<op>_<op>}, then {@code _1}, {@code _2}.
 * The readable part is cut at 80 characters and a digest appended.
 */
final class OperatorNames {
    private static final int LONGEST = 80;

    private final String prefix;
    private final Map<String, Integer> used = new HashMap<>();

    OperatorNames(String prefix) {
        this.prefix = prefix;
    }

    String next(String groupName) {
        String readable = groupName.length() <= LONGEST
                ? groupName
                : groupName.substring(0, LONGEST) + "_"
                        + Digests.sha256(groupName).substring(0, 16);
        int count = used.merge(readable, 1, Integer::sum);
        return prefix + "_" + readable + (count == 1 ? "" : "_" + (count - 1));
    }
}
