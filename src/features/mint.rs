//! To and from the types that mathematics libraries share.
//!
//! The parts of a transform convert by glam's own conversions. There is no transform among the shared
//! types, only its matrix.

use crate::{Transform, TransformError};
use glam::{Affine3A, Mat4, Vec4};
use mint::{ColumnMatrix4, RowMatrix3x4, RowMatrix4};

/// The matrix `T * R * S`, the same numbers as [`Transform::to_mat4`].
///
/// ```
/// use posetree::{Transform, glam::Vec3};
/// let t = Transform::from_position(mint::Vector3 { x: 1.0, y: 2.0, z: 3.0 }.into());
/// let matrix: mint::ColumnMatrix4<f32> = t.into();
/// assert_eq!(matrix.w, mint::Vector4 { x: 1.0, y: 2.0, z: 3.0, w: 1.0 });
/// assert_eq!(Transform::try_from(matrix)?, t);
/// # Ok::<(), posetree::TransformError>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
impl From<Transform> for ColumnMatrix4<f32> {
    fn from(transform: Transform) -> Self {
        transform.to_mat4().into()
    }
}

/// As [`ColumnMatrix4`], row by row.
#[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
impl From<Transform> for RowMatrix4<f32> {
    fn from(transform: Transform) -> Self {
        transform.to_mat4().into()
    }
}

/// The three rows that are not (0, 0, 0, 1): what a row of
/// [`Worlds::rows`](crate::Worlds::rows) is.
#[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
impl From<Transform> for RowMatrix3x4<f32> {
    fn from(transform: Transform) -> Self {
        let RowMatrix4 { x, y, z, .. } = transform.into();
        Self { x, y, z }
    }
}

/// Reads position, rotation and scale from a matrix, and refuses shear: as from an
/// [`Affine3A`].
#[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
impl TryFrom<ColumnMatrix4<f32>> for Transform {
    type Error = TransformError;

    /// # Errors
    ///
    /// `NotTrs` if the matrix shears, or if its last row is not (0, 0, 0, 1): a projection is no
    /// transform at all, and its residual is infinite; `NonFinite` if an element is not finite.
    fn try_from(matrix: ColumnMatrix4<f32>) -> Result<Self, TransformError> {
        let matrix = Mat4::from(matrix);
        if !matrix.is_finite() {
            return Err(TransformError::NonFinite);
        }
        if matrix.row(3) != Vec4::W {
            return Err(TransformError::NotTrs { residual: f32::INFINITY });
        }
        Self::try_from(Affine3A::from_mat4(matrix))
    }
}

/// As from a [`ColumnMatrix4`].
#[cfg_attr(docsrs, doc(cfg(feature = "mint")))]
impl TryFrom<RowMatrix4<f32>> for Transform {
    type Error = TransformError;

    fn try_from(matrix: RowMatrix4<f32>) -> Result<Self, TransformError> {
        ColumnMatrix4::from(Mat4::from(matrix)).try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hierarchy, Matrices};
    use glam::{Quat, Vec3};

    fn sample() -> Transform {
        Transform::new(Vec3::new(1.0, 2.0, 3.0), Quat::from_xyzw(0.6, 0.0, 0.0, 0.8), Vec3::new(2.0, 3.0, 4.0))
    }

    #[test]
    fn elements_stand_where_they_belong() {
        let (t, columns) = (sample(), sample().to_mat4().to_cols_array_2d());
        let by_column: [[f32; 4]; 4] = ColumnMatrix4::from(t).into();
        assert_eq!(by_column, columns);
        let by_row: [[f32; 4]; 4] = RowMatrix4::from(t).into();
        let three: [[f32; 4]; 3] = RowMatrix3x4::from(t).into();
        for (i, row) in by_row.iter().enumerate() {
            assert_eq!(*row, columns.map(|column| column[i]));
            assert!(i == 3 || three[i] == *row);
        }
        let mut h = Hierarchy::new();
        let root = h.add_root(t).unwrap();
        let row: <Matrices as crate::Accumulate>::Row = h.update()[root];
        assert_eq!(three, row);
    }

    #[test]
    fn what_comes_back_is_what_went_in() {
        let t = sample();
        let back = Transform::try_from(ColumnMatrix4::from(t)).unwrap();
        assert!(back.position == t.position && back.scale.abs_diff_eq(t.scale, 1e-6));
        assert!(back.rotation.abs_diff_eq(t.rotation, 1e-6));
        assert_eq!(Transform::try_from(RowMatrix4::from(t)), Ok(back));
        let rotation: mint::Quaternion<f32> = t.rotation.into();
        assert_eq!((rotation.s, rotation.v.x), (0.8, 0.6));
        assert_eq!(t.with_rotation(rotation.into()), t);
    }

    #[test]
    fn what_is_no_transform_is_refused() {
        let matrix = ColumnMatrix4::from(sample());
        for index in 0..16 {
            let mut elements: [f32; 16] = matrix.into();
            elements[index] = f32::NAN;
            assert_eq!(Transform::try_from(ColumnMatrix4::from(elements)), Err(TransformError::NonFinite));
        }
        let mut projection = Mat4::IDENTITY;
        projection.z_axis.w = -1.0;
        let refused = Transform::try_from(ColumnMatrix4::from(projection));
        assert_eq!(refused, Err(TransformError::NotTrs { residual: f32::INFINITY }));
        let mut sheared = Mat4::IDENTITY;
        sheared.y_axis.x = 0.5;
        let refused = Transform::try_from(RowMatrix4::from(sheared));
        assert!(matches!(refused, Err(TransformError::NotTrs { residual }) if (residual - 0.5).abs() < 1e-6));
    }
}
