// SPDX-License-Identifier: Apache-2.0
package io.kiln.memory;

import java.util.Arrays;

/** Adjacency lists under construction. */
final class Neighbours {
    private final int[][] lists;
    private final int[] sizes;

    Neighbours(int size) {
        lists = new int[size][];
        sizes = new int[size];
    }

    void join(int a, int b) {
        add(a, b);
        add(b, a);
    }

    private void add(int a, int b) {
        if (sizes[a] == 0) {
            lists[a] = new int[4];
        } else if (sizes[a] == lists[a].length) {
            lists[a] = Arrays.copyOf(lists[a], 2 * sizes[a]);
        }
        lists[a][sizes[a]++] = b;
    }

    /** The lists in ascending order. Called once, at the end. */
    int[][] toArrays() {
        for (int i = 0; i < lists.length; i++) {
            lists[i] = sizes[i] == 0 ? new int[0] : Arrays.copyOf(lists[i], sizes[i]);
            Arrays.sort(lists[i]);
        }
        return lists;
    }
}
