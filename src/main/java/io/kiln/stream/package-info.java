// SPDX-License-Identifier: Apache-2.0
/** Planning across operators: the order of execution, and which values are alive when. */
package io.kiln.stream;
