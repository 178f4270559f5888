// SPDX-License-Identifier: Apache-2.0
/** Ground floor: scalar types, problems, digests, files. Knows nothing of models, boards or Maven. */
package io.kiln.base;
