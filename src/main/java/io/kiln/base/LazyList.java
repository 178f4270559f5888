// SPDX-License-Identifier: Apache-2.0
package io.kiln.base;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;

/**
 * An immutable list that makes each item when it is asked for. Lists of a file's tiny items are such lists, because objects for all of them would
 * take several times the memory of the file.
 */
public abstract class LazyList<T> extends AbstractList<T> implements RandomAccess {
    /** The list itself if it is such a list; otherwise a copy. */
    public static <T> List<T> copyOf(List<T> items) {
        return items instanceof LazyList ? items : List.copyOf(items);
    }
}
